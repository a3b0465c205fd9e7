import { inspect } from 'node:util';

/** What the log shows of an error or another thrown value. Other properties are left out: they may hold secrets. */
export function errorFields(error: unknown): { type: string; message: string; stack: string } {
  if (!(error instanceof Error)) {
    const text = inspect(error, { depth: 0 });
    return { type: typeof error, message: text, stack: text };
  }
  return { type: error.name, message: error.message, stack: stackWithCauses(error) };
}

function stackWithCauses(error: Error, depth = 5): string {
  const { stack = String(error), cause } = error;
  return cause instanceof Error && depth > 0 ? `${stack}\ncaused by: ${stackWithCauses(cause, depth - 1)}` : stack;
}

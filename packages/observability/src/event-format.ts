import { inspect } from 'node:util';

/** Severities by the numbers that pino gives them, which log viewers know. */
export const LEVELS = {
  trace: 10,
  debug: 20,
  info: 30,
  warn: 40,
  error: 50,
  fatal: 60,
  silent: Number.POSITIVE_INFINITY,
} as const;

export type LogLevel = keyof typeof LEVELS;

/** Names of levels, the most verbose first. */
export const LOG_LEVELS = Object.keys(LEVELS) as LogLevel[];

/** Formats an event as text that ends with a line feed. */
export type EventFormat = (level: LogLevel, message: string, details: object) => string;

export const jsonEvent: EventFormat = (level, message, details) =>
  `${JSON.stringify({ level: LEVELS[level], time: Date.now(), ...details, msg: message })}\n`;

/** A line for a person, followed by the stack of an error. */
export const readableEvent: EventFormat = (_level, message, details) => {
  const { err, ...others }: { err?: { stack: string } } = details;
  const rest = JSON.stringify(others);
  return `${new Date().toISOString()} ${message}${rest === '{}' ? '' : ` ${rest}`}\n${err === undefined ? '' : `${err.stack}\n`}`;
};

/** The fields of a thrown value in the log. Other properties are left out, because they may hold secrets. */
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

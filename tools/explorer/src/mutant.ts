import { registerHooks } from 'node:module';

/** A deliberate error: one place in the text of a module, and what stands there instead. */
export interface Mutation {
  readonly module: URL;
  /** Occurs once in the module. */
  readonly from: string;
  readonly to: string;
}

/** Imports a module with a deliberate error, in memory only: what imports it as usual gets the original. */
export async function importMutant({ module, from, to }: Mutation): Promise<object> {
  const url = `${module}?mutant=${encodeURIComponent(`${from} => ${to}`)}`;
  const hooks = registerHooks({
    load(loaded, context, next) {
      const original = next(loaded, context);
      if (loaded !== url) return original;
      const source = String(original.source);
      if (source.split(from).length !== 2) throw new Error(`${module.pathname} does not contain once: ${from}`);
      return { ...original, source: source.replace(from, () => to) };
    },
  });
  try {
    return await import(url);
  } finally {
    hooks.deregister();
  }
}

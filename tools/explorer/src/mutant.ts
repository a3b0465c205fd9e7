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
  const { href: url } = new URL(`?mutant=${encodeURIComponent(`${from} => ${to}`)}`, module);
  let isApplied = false;
  const hooks = registerHooks({
    load(loaded, context, next) {
      const original = next(loaded, context);
      if (loaded !== url) return original;
      const source = String(original.source);
      if (source.split(from).length !== 2) throw new Error(`${module.pathname} does not contain once: ${from}`);
      isApplied = true;
      return { ...original, source: source.replace(from, () => to) };
    },
  });
  try {
    const mutant = await import(url);
    if (!isApplied) throw new Error(`${module.pathname} was loaded without the deliberate error`);
    return mutant;
  } finally {
    hooks.deregister();
  }
}

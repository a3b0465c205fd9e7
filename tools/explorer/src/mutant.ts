import { registerHooks } from 'node:module';

/**
 * Imports modules with a deliberate error in `module`, which is one of them or one that they import, in memory only: other
 * importers get the originals.
 *
 * @param from Occurs once in the text of `module`, and is replaced by `to`.
 */
export async function importMutants(
  entries: readonly URL[],
  module: URL,
  from: string,
  to: string,
): Promise<readonly object[]> {
  const query = `?${new URLSearchParams({ mutant: `${from} => ${to}` })}`;
  const copyOf = (url: string) => (url.startsWith('file:') && !url.includes('node_modules') ? url + query : url);
  let isApplied = false;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      return context.parentURL?.endsWith(query) ? { ...resolved, url: copyOf(resolved.url) } : resolved;
    },
    load(url, context, next) {
      const original = next(url, context);
      if (url !== module.href + query) return original;
      const source = String(original.source);
      if (source.split(from).length !== 2) throw new Error(`${module.pathname} does not contain once: ${from}`);
      isApplied = true;
      return { ...original, source: source.replace(from, () => to) };
    },
  });
  try {
    const mutants = await Promise.all(entries.map(({ href }) => import(href + query)));
    if (!isApplied) throw new Error(`${module.pathname} was loaded without the deliberate error`);
    return mutants;
  } finally {
    hooks.deregister();
  }
}

/** The HTTP methods that a route serves. */
export function methodNames(method: 'get' | 'post'): readonly string[] {
  return method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()];
}

/** Stands for a last segment that is a parameter. */
const PARAMETER = '<parameter>';

/**
 * The value of the Allow field (RFC 9110, section 10.2.1) for each path that has a route, null for other paths.
 *
 * @param routes Paths as Hono writes them, with at most one parameter, as the last segment.
 */
export function allowedMethods(
  routes: readonly { readonly method: 'get' | 'post'; readonly path: string }[],
): (path: string) => string | null {
  const allowed = new Map<string, string[]>();
  for (const { method, path } of routes) {
    const pattern = path.replace(/:\w+$/, PARAMETER);
    const methods = allowed.get(pattern) ?? [];
    methods.push(...methodNames(method));
    allowed.set(pattern, methods);
  }
  return (path) => {
    // Not by /[^/]+$/: it restarts at each character, in time that grows with the square of their number.
    const start = path.lastIndexOf('/') + 1;
    const methods = allowed.get(path) ?? (start < path.length ? allowed.get(path.slice(0, start) + PARAMETER) : null);
    return methods?.join(', ') ?? null;
  };
}

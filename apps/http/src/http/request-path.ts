/**
 * The path of a request, percent-decoded once: `/v1/pets/%37` is `/v1/pets/7`, `/v1/pets/%2537` is `/v1/pets/%37`, an
 * encoded slash separates nothing. A path with a malformed escape stays as it was sent.
 *
 * @param request Anything with an absolute URL.
 */
export function requestPath({ url }: { url: string }): string {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  const query = url.indexOf('?', start);
  const path = query === -1 ? url.slice(start) : url.slice(start, query);
  if (!path.includes('%')) return path;
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** Everything after the first question mark of a URL; empty if there is none. */
export function queryString({ url }: { url: string }): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}

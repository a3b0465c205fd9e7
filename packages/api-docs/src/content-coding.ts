/** The content codings of responses (RFC 9110, section 8.4.1), the smallest first; `identity` is none. */
const CODINGS = ['br', 'gzip', 'identity'] as const;
export type Coding = (typeof CODINGS)[number];

const ENTRY = /^[\t ]*([^\t ;]+)[\t ]*(?:;[\t ]*q=([\d.]+)[\t ]*)?$/i;

/**
 * The coding that a client prefers (RFC 9110, section 12.5.3), of several the smallest.
 *
 * @param field Accept-Encoding. Without it, or if it names none of them, the result is `identity`.
 */
export function preferredCoding(field = ''): Coding {
  const weights = new Map<string, number>();
  for (const entry of field.split(',')) {
    const [, coding = '', weight = '1'] = ENTRY.exec(entry) ?? [];
    weights.set(coding.toLowerCase(), Number(weight));
  }
  let preferred: Coding = 'identity';
  let highest = 0;
  for (const coding of CODINGS) {
    const weight = weights.get(coding) ?? weights.get('*') ?? 0;
    if (weight > highest) [preferred, highest] = [coding, weight];
  }
  return preferred;
}

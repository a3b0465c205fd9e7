import { hash } from 'node:crypto';
import type { Digest } from '@animal-store/domain';

/** The bearer credentials of a request: a key, none, or malformed ones. */
export type Credentials = { kind: 'key'; key: string } | { kind: 'none' } | { kind: 'malformed' };

const NONE: Credentials = { kind: 'none' };
const MALFORMED: Credentials = { kind: 'malformed' };
const BEARER_KEY = /^bearer +([\x21-\x7e]+)$/i;
const BEARER = /^bearer\s+\S/i;

/**
 * Reads bearer credentials (RFC 9110, section 11.4; RFC 6750, section 2.1): the scheme in any case, one or more spaces,
 * the key in visible ASCII characters.
 *
 * @param fields The values of all Authorization header fields. More than one is malformed. Another scheme than Bearer, or
 * Bearer without a key, carries no credentials.
 */
export function readCredentials(fields: readonly string[]): Credentials {
  const [field = '', ...others] = fields;
  if (others.length > 0) return MALFORMED;
  const key = BEARER_KEY.exec(field)?.[1];
  if (key !== undefined) return { kind: 'key', key };
  return BEARER.test(field) ? MALFORMED : NONE;
}

/** The digest by which keys are compared and stored. */
export const sha256: Digest = (text) => hash('sha256', text, 'hex');

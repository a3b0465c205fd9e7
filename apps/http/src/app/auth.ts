import { readCredentials } from '@animal-store/app-kit';
import { type Authenticate, visiblePrefixOf } from '@animal-store/domain/transport';
import { HttpError } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { CLIENT_MESSAGES } from './messages.ts';
import type { Guard } from './route.ts';

// These errors are made once, because taking the stack costs more than the rest of a rejection.
const MISSING_KEY = unauthorized(CLIENT_MESSAGES.missingKey, '');
const INVALID_KEY = unauthorized(CLIENT_MESSAGES.invalidKey, ', error="invalid_token"');

/** RFC 6750, section 3: an error code only if a key was sent. */
function unauthorized(message: string, errorCode: string): HttpError {
  return new HttpError('unauthorized', message, { 'www-authenticate': `Bearer realm="animal-store"${errorCode}` });
}

/** Rejects requests without a valid key. */
export function requireKey(authenticate: Authenticate): Guard {
  return async ({ request, record }) => {
    const field = request.header('authorization') ?? '';
    // Repeated fields, joined: each begins with a scheme and a space.
    const fields = field.includes(', ') ? field.split(/, (?=[\w-]+ )/) : [field];
    const credentials = readCredentials(fields);
    if (credentials.kind === 'none') throw MISSING_KEY;
    if (credentials.kind !== 'key') throw INVALID_KEY;
    const key = await authenticate(credentials.key);
    if (key === null) {
      const prefix = visiblePrefixOf(credentials.key);
      if (prefix !== null) record.details = { key: prefix };
      throw INVALID_KEY;
    }
    record.key = key;
  };
}

/**
 * The holder of the key of a request.
 *
 * @throws TypeError if no key was required
 */
export function keyHolder({ record: { key } }: Exchange): string {
  if (key === null) throw new TypeError('requireKey must come before what needs a holder');
  return key.holder;
}

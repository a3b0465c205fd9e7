import { readCredentials } from '@animal-store/app-kit';
import { type Authenticate, visiblePrefixOf } from '@animal-store/domain/transport';
import type { Middleware } from './env.ts';
import { HttpError } from './errors.ts';
import { CLIENT_MESSAGES } from './messages.ts';

// These errors are made once, because taking the stack costs more than the rest of a rejection.
const MISSING_KEY = unauthorized(CLIENT_MESSAGES.missingKey, '');
const INVALID_KEY = unauthorized(CLIENT_MESSAGES.invalidKey, ', error="invalid_token"');

/** RFC 6750, section 3: an error code only if a key was sent. */
function unauthorized(message: string, errorCode: string): HttpError {
  return new HttpError('unauthorized', message, { 'www-authenticate': `Bearer realm="animal-store"${errorCode}` });
}

/** Rejects requests without a valid key. */
export function requireKey(authenticate: Authenticate): Middleware {
  return async (c, next) => {
    const { request, record } = c.get('exchange');
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
    c.set('key', key);
    await next();
  };
}

import { readCredentials } from '@animal-store/app-kit';
import { type Authenticate, visiblePrefixOf } from '@animal-store/domain/transport';
import { HttpError } from './errors.ts';
import type { Admission, Admit } from './exchange.ts';
import { CLIENT_MESSAGES } from './messages.ts';
import type { RateLimit } from './rate-limit.ts';

// These errors are made once, because taking the stack costs more than the rest of a rejection.
const MISSING_KEY = unauthorized(CLIENT_MESSAGES.missingKey, '');
const INVALID_KEY = unauthorized(CLIENT_MESSAGES.invalidKey, ', error="invalid_token"');

/** RFC 6750, section 3: an error code only if a key was sent. */
function unauthorized(message: string, errorCode: string): HttpError {
  return new HttpError('unauthorized', message, { 'www-authenticate': `Bearer realm="animal-store"${errorCode}` });
}

const rejected = (rejection: HttpError, rejectedKey: string | null = null): Admission => {
  return { key: null, rejectedKey, headers: null, rejection };
};

/** Admits requests with a valid key, within its holder's quota. */
export function createAdmission(authenticate: Authenticate, rateLimit: RateLimit | null): Admit {
  return async (incoming) => {
    const field = incoming.header('authorization') ?? '';
    // Repeated fields, joined: each begins with a scheme and a space.
    const fields = field.includes(', ') ? field.split(/, (?=[\w-]+ )/) : [field];
    const credentials = readCredentials(fields);
    if (credentials.kind !== 'key') return rejected(credentials.kind === 'none' ? MISSING_KEY : INVALID_KEY);
    const key = await authenticate(credentials.key);
    if (key === null) return rejected(INVALID_KEY, visiblePrefixOf(credentials.key));
    const { headers, rejection } = rateLimit?.(key.holder) ?? { headers: null, rejection: null };
    return { key, rejectedKey: null, headers, rejection };
  };
}

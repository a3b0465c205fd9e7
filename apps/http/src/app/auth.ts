import { readCredentials } from '@animal-store/app-kit';
import { type Authenticate, visiblePrefixOf } from '@animal-store/domain/transport';
import { HttpError } from './errors.ts';
import type { Admit } from './handler.ts';
import { CLIENT_MESSAGES } from './messages.ts';
import type { RateLimit } from './rate-limit.ts';

// These errors are made once, because taking the stack costs more than the rest of a rejection.
const MISSING_KEY = unauthorized(CLIENT_MESSAGES.missingKey, '');
const INVALID_KEY = unauthorized(CLIENT_MESSAGES.invalidKey, ', error="invalid_token"');

/** RFC 6750, section 3: an error code only if a key was sent. */
function unauthorized(message: string, errorCode: string): HttpError {
  return new HttpError('unauthorized', message, { 'www-authenticate': `Bearer realm="animal-store"${errorCode}` });
}

/** Admits requests with a valid key, within its holder's quota. */
export function createAdmission(authenticate: Authenticate, rateLimit: RateLimit | null): Admit {
  return async (incoming) => {
    const field = incoming.header('authorization') ?? '';
    // Repeated fields, joined: each begins with a scheme and a space.
    const fields = field.includes(', ') ? field.split(/, (?=[\w-]+ )/) : [field];
    const credentials = readCredentials(fields);
    if (credentials.kind === 'none') return { key: null, rejection: MISSING_KEY };
    if (credentials.kind !== 'key') return { key: null, rejection: INVALID_KEY };
    const key = await authenticate(credentials.key);
    if (key !== null) return { key, ...(rateLimit?.(key.holder) ?? { rejection: null }) };
    const prefix = visiblePrefixOf(credentials.key);
    return { key, rejection: INVALID_KEY, ...(prefix !== null && { details: { key: prefix } }) };
  };
}

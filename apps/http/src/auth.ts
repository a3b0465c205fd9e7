import { readCredentials } from '@animal-store/app-kit';
import { type Authenticate, type AuthenticatedKey, visiblePrefixOf } from '@animal-store/domain/transport';
import type { Context } from 'hono';
import type { Env, RequestRecord } from './http/exchange.ts';
import { CLIENT_MESSAGES, HttpError } from './http/http-error.ts';

// These errors are made once, because taking the stack costs more than the rest of a rejection.
const MISSING_KEY = unauthorized(CLIENT_MESSAGES.missingKey, '');
const INVALID_KEY = unauthorized(CLIENT_MESSAGES.invalidKey, ', error="invalid_token"');

/** RFC 6750, section 3: an error code only if a key was sent. */
function unauthorized(message: string, errorCode: string): HttpError {
  return new HttpError('unauthorized', message, { 'www-authenticate': `Bearer realm="animal-store"${errorCode}` });
}

/**
 * The valid key of a request.
 *
 * @throws HttpError `unauthorized`
 */
export async function authenticateRequest(
  { env: { incoming } }: Context<Env>,
  record: RequestRecord,
  authenticate: Authenticate,
): Promise<AuthenticatedKey> {
  const { authorization = '' } = incoming.headers;
  // Node joins repeated fields with a comma and a space.
  const fields = authorization.includes(', ') ? (incoming.headersDistinct['authorization'] ?? []) : [authorization];
  const credentials = readCredentials(fields);
  if (credentials.kind !== 'key') throw credentials.kind === 'none' ? MISSING_KEY : INVALID_KEY;
  const key = await authenticate(credentials.key);
  if (key !== null) return key;
  record.rejectedKey = visiblePrefixOf(credentials.key);
  throw INVALID_KEY;
}

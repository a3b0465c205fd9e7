import { unavailable } from '@animal-store/domain/ports';
import Type from 'typebox';
import { CLIENT_MESSAGES } from '../http/client-messages.ts';
import { ERROR_STATUS } from '../http/http-error.ts';
import { errorResponseObject, type HeaderObjects, header, headerRef, optionalHeader } from './building-blocks.ts';

export const requestIdHeader = { 'X-Request-Id': headerRef('RequestId') };

/** The header fields of every response to a valid key, if the operator has set a limit. */
export const quotaHeaders = { RateLimit: headerRef('RateLimit'), 'RateLimit-Policy': headerRef('RateLimitPolicy') };

export const ErrorSchema = Type.Object(
  {
    code: Type.Enum(Object.keys(ERROR_STATUS), { type: 'string', description: 'Machine-readable. The set is closed.' }),
    message: Type.String({ description: 'Human-readable: what is wrong and what to do about it.' }),
    status: Type.Integer({ minimum: 400, maximum: 599, description: 'The HTTP status code of the response.' }),
  },
  { additionalProperties: false, description: 'Why the service rejected or failed the request.' },
);

export const sharedHeaders: HeaderObjects = {
  RequestId: header(
    'Names the request in the log: the X-Request-Id of the request if it is well-formed, else a new one.',
    '6f1c7f6e-4f0b-4f0e-9a52-0d6c2b9f1f5e',
  ),
  RetryAfter: header('After how many seconds to retry.', undefined, { type: 'integer', minimum: 1 }),
  RateLimit: optionalHeader(
    "The rest of the holder's quota, and the seconds until it is whole again (draft-ietf-httpapi-ratelimit-headers).",
    '"default";r=0;t=7',
  ),
  RateLimitPolicy: optionalHeader("The holder's quota and its window in seconds.", '"default";q=600;w=60'),
  Allow: optionalHeader('With 405: the allowed methods.', 'GET, HEAD'),
  WwwAuthenticate: header(
    'The challenge of RFC 6750, section 3; with `error="invalid_token"` if a key was sent.',
    'Bearer realm="animal-store"',
  ),
};

/** The responses that every operation shares, by the name of their component and the status under which operations list them. */
export const SHARED_RESPONSES = {
  401: 'Unauthorized',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  default: 'OtherError',
} as const;

export function sharedResponses(notFoundMessage: string) {
  return {
    BadRequest: errorResponseObject(
      'invalid_request',
      'a parameter, a field or the body breaks a rule; the message names each violation.',
      'name is required; categoryId is required',
    ),
    Unauthorized: errorResponseObject('unauthorized', 'missing or invalid API key.', CLIENT_MESSAGES.missingKey, {
      'WWW-Authenticate': headerRef('WwwAuthenticate'),
    }),
    TooManyRequests: errorResponseObject(
      'too_many_requests',
      'this holder has used up its quota for now.',
      CLIENT_MESSAGES.quotaUsedUp(600, 60, 7),
      { 'Retry-After': headerRef('RetryAfter'), ...quotaHeaders },
    ),
    InternalError: errorResponseObject('internal_error', 'a defect of the service.', CLIENT_MESSAGES.unexpected),
    ServiceUnavailable: errorResponseObject(
      'service_unavailable',
      'the storage is unavailable, or the service is overloaded or stopping.',
      unavailable().message,
      { 'Retry-After': headerRef('RetryAfter') },
    ),
    OtherError: errorResponseObject(
      'not_found',
      'or method_not_allowed, for other paths and methods; invalid_request with status 400, 408 or 431 for malformed HTTP, a late ' +
        'request or a header section that is too large.',
      notFoundMessage,
      { Allow: headerRef('Allow') },
    ),
  };
}

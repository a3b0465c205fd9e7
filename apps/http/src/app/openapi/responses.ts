import type { NewPet } from '@animal-store/domain';
import { ERROR_STATUS, type ErrorCode } from '../errors.ts';
import { CLIENT_MESSAGES } from '../messages.ts';
import type { SCHEMAS } from './schemas.ts';

type Objects = Readonly<Record<string, object>>;

/** An operation of the interface as the document shows it. */
export interface DescribedOperation {
  readonly method: 'get' | 'post';
  /** Relative to the base path, as OpenAPI writes it: `/pets/{petId}`. */
  readonly path: string;
  /** Header fields of each of its responses, errors included. */
  readonly headers?: Readonly<Record<string, { readonly value: string; readonly description: string }>>;
  readonly description: OperationDescription;
}

/** What the document says of an operation: an Operation Object (OpenAPI 3.1.1, section 4.8.10). */
interface OperationDescription {
  readonly [member: string]: unknown;
  /** Without the responses and header fields that all operations share. */
  readonly responses: Objects;
}

export const ref = (kind: 'schemas' | 'responses' | 'headers', name: string) => ({
  $ref: `#/components/${kind}/${name}`,
});

/** A header field that is present on every response that lists it. */
export function header(description: string, example?: string, schema: object = { type: 'string' }) {
  return { description, required: true, schema, example };
}

/** A header field that may be absent. */
export function optionalHeader(description: string, example?: string) {
  return { ...header(description, example), required: false };
}

/** A parameter of an operation. Those of a path are required. */
export function parameter(
  place: 'query' | 'header' | 'path',
  name: string,
  description: string,
  schema: object,
  example?: unknown,
) {
  return { name, in: place, ...(place === 'path' && { required: true }), description, schema, example };
}

/** A JSON body whose schema is a component. */
export function jsonContent(schema: keyof typeof SCHEMAS, example: unknown) {
  return { 'application/json': { schema: ref('schemas', schema), example } };
}

/** When operations respond with a code. */
const REASONS = {
  invalid_request: 'a parameter, a field or the body breaks a rule; the message names each violation.',
  unauthorized: 'missing or invalid API key.',
  pet_not_found: 'no animal with this identifier.',
  not_found:
    'no such path. Other codes: method_not_allowed for another method, with Allow; invalid_request for malformed HTTP (400), a ' +
    'request that does not arrive in time (408) and a header section that is too large (431).',
  endpoint_removed: 'the operation has been removed.',
  payload_too_large: 'the body is too large.',
  unsupported_media_type: 'the body is not declared as plain application/json.',
  idempotency_key_reused: 'the Idempotency-Key already stands for another animal.',
  too_many_requests: 'this holder has used up its quota for now.',
  internal_error: 'a defect of the service.',
  service_unavailable: 'the storage is unavailable, or the service is overloaded or stopping.',
} satisfies Partial<Record<ErrorCode, string>>;

/** A response with an Error body. `message` is that of the example, as the service words it. */
export function errorContent(code: keyof typeof REASONS, message: string, headers: Objects = {}) {
  const content = jsonContent('Error', { code, message, status: ERROR_STATUS[code] });
  return { description: `${code}: ${REASONS[code]}`, headers, content };
}

// Generators for TypeScript and mock servers can't hold the extremes of 64 bits.
export const EXAMPLE_NEW_PET = { name: 'Rex', categoryId: 42, status: 'available' } as const satisfies Record<
  keyof NewPet,
  unknown
>;
export const EXAMPLE_PET = { id: 1, ...EXAMPLE_NEW_PET } as const;

export const HEADERS: Objects = {
  RequestId: header('Names the request in the log.', '6f1c7f6e-4f0b-4f0e-9a52-0d6c2b9f1f5e'),
  RetryAfter: header('After how many seconds to retry.', undefined, { type: 'integer' }),
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

/** The fields of a holder's quota. Every response to a valid key may have them; the document has them where clients look. */
const QUOTA = { RateLimit: ref('headers', 'RateLimit'), 'RateLimit-Policy': ref('headers', 'RateLimitPolicy') };

/** The response of a status with the header fields of every response, besides its own. */
export function withHeaders(status: string, response: { readonly headers?: Objects }, own: Objects = {}) {
  const quota = /^2|429/.test(status) ? QUOTA : {};
  return {
    ...response,
    headers: { ...response.headers, ...own, ...quota, 'X-Request-Id': ref('headers', 'RequestId') },
  };
}

/** The responses that operations share, by the name of their component. */
export function sharedResponses(operationPaths: readonly string[]) {
  const retryAfter = { 'Retry-After': ref('headers', 'RetryAfter') };
  const challenge = { 'WWW-Authenticate': ref('headers', 'WwwAuthenticate') };
  const allow = { Allow: ref('headers', 'Allow') };
  return {
    BadRequest: errorContent('invalid_request', 'name is required; categoryId is required'),
    Unauthorized: errorContent('unauthorized', CLIENT_MESSAGES.missingKey, challenge),
    TooManyRequests: errorContent('too_many_requests', CLIENT_MESSAGES.quotaUsedUp(600, 60, 7), retryAfter),
    InternalError: errorContent('internal_error', CLIENT_MESSAGES.unexpected),
    ServiceUnavailable: errorContent('service_unavailable', CLIENT_MESSAGES.overloaded, retryAfter),
    OtherError: errorContent('not_found', CLIENT_MESSAGES.noPath(operationPaths), allow),
  };
}

import { DomainError, type DomainErrorCode, LIMITS } from '@animal-store/domain';

/** Header fields of a response, by lower-case name. */
export type Headers = Readonly<Record<string, string>>;

/** A response before it is written. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

export const JSON_TYPE: Headers = { 'content-type': 'application/json' };

/** Every code of an Error body, with its status. The set is closed: clients may switch over it. */
export const ERROR_STATUS = {
  invalid_request: 400,
  unauthorized: 401,
  pet_not_found: 404,
  not_found: 404,
  method_not_allowed: 405,
  endpoint_removed: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  too_many_requests: 429,
  internal_error: 500,
  service_unavailable: 503,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** The codes of the domain's errors in this interface. */
const CODE_OF_DOMAIN_ERROR = {
  invalid: 'invalid_request',
  pet_not_found: 'pet_not_found',
  key_not_found: 'not_found',
  idempotency_key_reused: 'idempotency_key_reused',
  storage_unavailable: 'service_unavailable',
} as const satisfies Record<DomainErrorCode, ErrorCode>;

/** The messages of Error bodies, besides those of the domain. */
export const CLIENT_MESSAGES = {
  badCursor: 'cursor must be one that a Link header of this service gave',
  badHost: 'send one Host field that names a host, or host:port',
  badHostForm: 'the Host field must have the form that URLs give a host, like [::1]',
  badTarget: 'the request target must be a path, or an http URL with a host',
  bodyBeginsWithMark: 'the body must not begin with a byte order mark',
  bodyIsEmpty: 'the body is empty: send a JSON object with name and categoryId',
  bodyIsIncomplete: 'the request ended before its body did',
  bodyIsNotJson: 'the body cannot be read as JSON',
  bodyIsNotUtf8: 'the body must be encoded in UTF-8',
  contentEncoding: 'send the animal without a Content-Encoding',
  contentType: 'send the animal as Content-Type: application/json',
  invalidKey: 'invalid API key: send a valid one as Authorization: Bearer <API_KEY>',
  late: 'the request did not arrive in time',
  missingKey: 'missing API key: send a valid one as Authorization: Bearer <API_KEY>',
  noTunnel: 'CONNECT is not supported',
  overloaded: 'the service is overloaded; retry after the time in Retry-After',
  stopping: 'the service is stopping',
  transferEncoding: 'send the body with no other Transfer-Encoding than chunked',
  unexpected: 'unexpected error in the service; it has been logged under the id of this request',
  allowedMethods: (methods: string) => `allowed methods: ${methods}`,
  bodyIsTooLarge: (bytes: number) => `the body must be at most ${bytes} bytes`,
  headerIsTooLarge: (bytes: number) =>
    `the request target and the header fields must have fewer than ${bytes} bytes in total`,
  malformed: (reason: string) => `malformed HTTP request: ${reason}`,
  noPath: (paths: readonly string[]) =>
    `no such path; a trailing slash makes a different path; there are ${paths.join(', ')}`,
  noPet: (quotedId: string) => `no pet has the id ${quotedId}: ids are integers from 1 to ${LIMITS.id.max}`,
  notOnce: (name: string, count: number) => `${name} must be given once, was given ${count} times`,
  /** @param window, wait In seconds. */
  quotaUsedUp: (limit: number, window: number, wait: number) =>
    `this API key's holder may make ${limit} requests in ${window} s: try again in ${wait} s`,
  removed: (basePath: string) => `this endpoint was removed: use GET ${basePath}/pets, which lists animals`,
} as const;

/** In seconds. */
const RETRY_AFTER: Headers = { 'retry-after': '1' };

/** The response to a request is an Error body. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: ErrorCode;
  readonly headers: Headers;
  readonly status: number;

  /**
   * @param message Advice for the client.
   * @param status Differs from the status of the code for malformed HTTP only: 408 and 431.
   */
  constructor(code: ErrorCode, message: string, headers: Headers = {}, status: number = ERROR_STATUS[code]) {
    super(message);
    this.code = code;
    this.headers = headers;
    this.status = status;
  }
}

/** @param status 408 or 431; 400 if absent. */
export const invalidRequest = (message: string, status?: number) =>
  new HttpError('invalid_request', message, {}, status);

/** Made once, because taking the stack costs more than the rest of a rejection. */
export const OVERLOADED = new HttpError('service_unavailable', CLIENT_MESSAGES.overloaded);

/** Whether an error is a defect of the service. */
export function isUnexpected(error: unknown): boolean {
  return !(error instanceof HttpError || DomainError.is(error));
}

/** The response to a request that ended in an error. Unexpected errors do not show their message. */
export function errorResponse(error: unknown): HttpResponse {
  if (error instanceof HttpError) return bodyOf(error.code, error.message, error.headers, error.status);
  if (DomainError.is(error)) return bodyOf(CODE_OF_DOMAIN_ERROR[error.code], error.message);
  return bodyOf('internal_error', CLIENT_MESSAGES.unexpected);
}

function bodyOf(code: ErrorCode, message: string, headers: Headers = {}, status: number = ERROR_STATUS[code]) {
  const retryAfter = status === ERROR_STATUS.service_unavailable ? RETRY_AFTER : {};
  return {
    status,
    headers: { ...JSON_TYPE, ...retryAfter, ...headers },
    body: JSON.stringify({ code, message, status }),
  };
}

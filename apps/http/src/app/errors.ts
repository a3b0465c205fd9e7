import { DomainError, type DomainErrorCode } from '@animal-store/domain';
import { CLIENT_MESSAGES } from './messages.ts';

/** Header fields of a response, by lower-case name. */
export type HeaderFields = Readonly<Record<string, string>>;

/** A response before it is written. */
export interface Reply<Body = string> {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly body: Body;
}

export const JSON_TYPE: HeaderFields = { 'content-type': 'application/json' };

/** Every code of an Error body, with its status. The set is closed: clients may switch over it. */
export const ERROR_STATUS = {
  invalid_request: 400,
  unauthorized: 401,
  /** Of `/mcp` only. */
  forbidden: 403,
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

/** In seconds. */
const RETRY_AFTER: HeaderFields = { 'retry-after': '1' };

/** The response to a request is an Error body. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: ErrorCode;
  readonly headers: HeaderFields;
  readonly status: number;

  /**
   * @param message Advice for the client.
   * @param status Differs from the status of the code for malformed HTTP only: 408 and 431.
   */
  constructor(code: ErrorCode, message: string, headers: HeaderFields = {}, status: number = ERROR_STATUS[code]) {
    super(message);
    this.code = code;
    this.headers = headers;
    this.status = status;
  }
}

/** @param status 408 or 431; 400 if absent. */
export const invalidRequest = (message: string, status?: number) =>
  new HttpError('invalid_request', message, {}, status);

// These errors are made once, because taking the stack costs more than the rest of a rejection.
export const BODY_IS_TOO_LARGE = new HttpError('payload_too_large', CLIENT_MESSAGES.bodyIsTooLarge);
export const BODY_IS_INCOMPLETE = invalidRequest(CLIENT_MESSAGES.bodyIsIncomplete);
export const STARTING = new HttpError('service_unavailable', CLIENT_MESSAGES.starting);
export const STOPPING = new HttpError('service_unavailable', CLIENT_MESSAGES.stopping);
export const OVERLOADED = new HttpError('service_unavailable', CLIENT_MESSAGES.overloaded);

/** Whether an error is a defect of the service. */
export function isUnexpected(error: unknown): boolean {
  return !(error instanceof HttpError || DomainError.is(error));
}

/** The code of an error in this interface. */
export function errorCode(error: unknown): ErrorCode {
  if (error instanceof HttpError) return error.code;
  return DomainError.is(error) ? CODE_OF_DOMAIN_ERROR[error.code] : 'internal_error';
}

/** The response to a request that ended in an error. Unexpected errors do not show their message. */
export function errorReply(error: unknown): Reply {
  const code = errorCode(error);
  const message = isUnexpected(error) ? CLIENT_MESSAGES.unexpected : (error as Error).message;
  const { status, headers } = error instanceof HttpError ? error : { status: ERROR_STATUS[code], headers: {} };
  const retryAfter = status === ERROR_STATUS.service_unavailable ? RETRY_AFTER : {};
  return {
    status,
    headers: { ...JSON_TYPE, ...retryAfter, ...headers },
    body: JSON.stringify({ code, message, status }),
  };
}

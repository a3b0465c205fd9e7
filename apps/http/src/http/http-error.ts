import { DomainError, type DomainErrorCode } from '@animal-store/domain';
import { Rejection } from '@animal-store/http-server';
import { CLIENT_MESSAGES } from './client-messages.ts';
import type { Unavailable, UnavailableReason } from './exchange.ts';
import { type Headers, type HttpResponse, jsonHeaders, jsonResponse } from './response.ts';

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

/** One of the codes of {@link ERROR_STATUS}. */
export type ErrorCode = keyof typeof ERROR_STATUS;

/** What the domain's errors are called in this interface. */
const CODE_OF_DOMAIN_ERROR = {
  invalid: 'invalid_request',
  pet_not_found: 'pet_not_found',
  key_not_found: 'not_found',
  idempotency_key_reused: 'idempotency_key_reused',
  storage_unavailable: 'service_unavailable',
} as const satisfies Record<DomainErrorCode, ErrorCode>;

/** Of every 503, in seconds. */
const RETRY_AFTER: Headers = { 'retry-after': '1' };

/** The response to a request is an Error body. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: ErrorCode;
  readonly headers: Headers;

  /** @param message For the client: what to do about it. */
  constructor(code: ErrorCode, message: string, headers: Headers = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }

  /** A 503 with Retry-After. */
  static unavailable(reason: UnavailableReason, message: string): HttpError {
    return new UnavailableError(reason, message);
  }
}

class UnavailableError extends HttpError {
  readonly reason: UnavailableReason;

  constructor(reason: UnavailableReason, message: string) {
    super('service_unavailable', message, RETRY_AFTER);
    this.reason = reason;
  }
}

/** Why an error becomes a 503; null for every other error. */
export function unavailableBecause(error: unknown): Unavailable | null {
  if (error instanceof UnavailableError) return { reason: error.reason, error };
  const isStorage = DomainError.is(error) && error.code === 'storage_unavailable';
  return isStorage ? { reason: 'storage', error } : null;
}

/** The Error body of the interface: exactly these three members. */
function errorBody(code: ErrorCode, message: string, status: number): string {
  return JSON.stringify({ code, message, status });
}

/** The response to a request that ended in an error. Unexpected errors do not show their message. */
export function errorResponse(error: unknown): HttpResponse {
  const { code, message, own, status = ERROR_STATUS[code] } = described(error);
  return jsonResponse(errorBody(code, message, status), status, jsonHeaders(own));
}

function described(error: unknown): { code: ErrorCode; message: string; own: Headers; status?: number } {
  if (error instanceof HttpError) {
    const { code, message, headers } = error;
    return { code, message, own: headers };
  }
  if (error instanceof Rejection) {
    const { message, status } = error;
    return { code: status === 413 ? 'payload_too_large' : 'invalid_request', message, own: {}, status };
  }
  if (DomainError.is(error)) {
    const code = CODE_OF_DOMAIN_ERROR[error.code];
    return { code, message: error.message, own: code === 'service_unavailable' ? RETRY_AFTER : {} };
  }
  return {
    code: 'internal_error',
    message: CLIENT_MESSAGES.unexpected,
    own: {},
  };
}

/** Whether an error is a defect of the service, for operators to see. */
export function isUnexpected(error: unknown): boolean {
  return !(error instanceof HttpError || error instanceof Rejection || DomainError.is(error));
}

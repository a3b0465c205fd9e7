import { DomainError, type DomainErrorCode } from '@animal-store/domain';
import { Rejection } from '@animal-store/http-server';
import { CLIENT_MESSAGES } from './client-messages.ts';
import { type Headers, type JsonResponse, jsonHeaders, jsonResponse } from './response.ts';

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

/** Why a response is 503: the storage is unavailable; the service is overloaded; the service is stopping. */
export const UNAVAILABLE_REASONS = ['storage', 'overload', 'stopping'] as const;
export type UnavailableReason = (typeof UNAVAILABLE_REASONS)[number];

/** Why a response is 503, and the error behind it. */
export interface Unavailable {
  readonly reason: UnavailableReason;
  readonly error: unknown;
}

const NO_HEADERS: Headers = {};

/** A field of every 503, in seconds. */
const RETRY_AFTER: Headers = { 'retry-after': '1' };

/** The response to a request is an Error body. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: ErrorCode;
  readonly headers: Headers;
  /** Why the status is 503; null for every other status. */
  readonly reason: UnavailableReason | null;

  /** @param message Advice for the client. */
  constructor(code: ErrorCode, message: string, headers = NO_HEADERS, reason: UnavailableReason | null = null) {
    super(message);
    this.code = code;
    this.headers = headers;
    this.reason = reason;
  }

  /** A 503 with Retry-After. */
  static unavailable(reason: UnavailableReason, message: string): HttpError {
    return new HttpError('service_unavailable', message, RETRY_AFTER, reason);
  }
}

/** Why an error becomes a 503; null for every other error. */
export function unavailableBecause(error: unknown): Unavailable | null {
  const isStorage = DomainError.is(error) && error.code === 'storage_unavailable';
  const reason = error instanceof HttpError ? error.reason : isStorage ? 'storage' : null;
  return reason && { reason, error };
}

/** Whether an error is a defect of the service, for operators to see. */
export function isUnexpected(error: unknown): boolean {
  return !(error instanceof HttpError || error instanceof Rejection || DomainError.is(error));
}

/** The response to a request that ended in an error. Unexpected errors do not show their message. */
export function errorResponse(error: unknown): JsonResponse {
  if (error instanceof HttpError) return render(error.code, error.message, error.headers);
  if (error instanceof Rejection) {
    const { message, status } = error;
    return render(status === 413 ? 'payload_too_large' : 'invalid_request', message, NO_HEADERS, status);
  }
  if (DomainError.is(error)) {
    const code = CODE_OF_DOMAIN_ERROR[error.code];
    return render(code, error.message, code === 'service_unavailable' ? RETRY_AFTER : NO_HEADERS);
  }
  return render('internal_error', CLIENT_MESSAGES.unexpected);
}

function render(
  code: ErrorCode,
  message: string,
  headers = NO_HEADERS,
  status: number = ERROR_STATUS[code],
): JsonResponse {
  return jsonResponse(JSON.stringify({ code, message, status }), status, jsonHeaders(headers));
}

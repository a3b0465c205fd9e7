const SERVICE_CODES = [
  'invalid_request',
  'unauthorized',
  'pet_not_found',
  'not_found',
  'method_not_allowed',
  'endpoint_removed',
  'payload_too_large',
  'unsupported_media_type',
  'idempotency_key_reused',
  'too_many_requests',
  'internal_error',
  'service_unavailable',
] as const;

type ServiceCode = (typeof SERVICE_CODES)[number];

/**
 * The codes of the service's errors, `no_response` (none arrived in time), and `unexpected_response` (of a proxy, not of
 * the service). A closed set: a caller may switch over it.
 */
export type ErrorCode = ServiceCode | 'no_response' | 'unexpected_response';

export function isServiceCode(code: unknown): code is ServiceCode {
  return (SERVICE_CODES as readonly unknown[]).includes(code);
}

/** A call failed. The members about a response are those of the last one; undefined if there was none. */
export class AnimalStoreError extends Error {
  override readonly name = 'AnimalStoreError';
  readonly code: ErrorCode;
  /** The HTTP status. */
  readonly status: number | undefined;
  /** Its `X-Request-Id`, which the log of the service has, too. */
  readonly requestId: string | undefined;

  /** @param details `cause`: the error of the last attempt. */
  constructor(
    code: ErrorCode,
    message: string,
    { status, requestId, cause }: Partial<Pick<AnimalStoreError, 'status' | 'requestId' | 'cause'>> = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.status = status;
    this.requestId = requestId;
  }
}

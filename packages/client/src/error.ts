const SERVICE_CODES = [
  'invalid_request',
  'unauthorized',
  'forbidden',
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

/**
 * The codes of the service's errors, `no_response` (none arrived in time), and `unexpected_response` (of a proxy, not of
 * the service). A closed set: a caller may switch over it.
 */
export type ErrorCode = (typeof SERVICE_CODES)[number] | 'no_response' | 'unexpected_response';

export function isServiceCode(code: unknown): code is ErrorCode {
  return (SERVICE_CODES as readonly unknown[]).includes(code);
}

type Details = Partial<Pick<AnimalStoreError, 'status' | 'requestId' | 'retryAfter' | 'idempotencyKey' | 'cause'>>;

/** A call failed. `status` and `retryAfter` are those of the last response, undefined if there was none. */
export class AnimalStoreError extends Error {
  override readonly name = 'AnimalStoreError';
  readonly code: ErrorCode;
  /** The HTTP status. */
  readonly status!: number | undefined;
  /** The `X-Request-Id` of all attempts, or of the response if a proxy has replaced it: the log of the service has it, too. */
  readonly requestId!: string | undefined;
  /** Its `Retry-After` in seconds. */
  readonly retryAfter!: number | undefined;
  /** The key of a `createPet`, which may have created the pet: the same call with this key creates no second one. */
  readonly idempotencyKey!: string | undefined;

  /** @param details `cause`: the error of `fetch`. */
  constructor(code: ErrorCode, message: string, { cause, ...details }: Details = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    Object.assign(this, details);
  }

  /** The members that JSON.stringify writes: without it the message, which is not enumerable, would be missing. */
  toJSON(): object {
    const { name, code, message, status, requestId, retryAfter, idempotencyKey } = this;
    return { name, code, message, status, requestId, retryAfter, idempotencyKey };
  }

  /** Whether a value is an AnimalStoreError, of this copy of the package or of another one, for which `instanceof` is false. */
  static is(error: unknown): error is AnimalStoreError {
    return error instanceof Error && error.name === 'AnimalStoreError';
  }
}

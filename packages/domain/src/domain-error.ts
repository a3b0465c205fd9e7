/** What can go wrong, as a closed set that every transport maps completely. */
export type DomainErrorCode =
  /** What was asked for breaks a rule; the message names each fault. */
  | 'invalid_request'
  /** No animal has this id. */
  | 'pet_not_found'
  /** The idempotency key already stands for another animal. */
  | 'idempotency_key_reused'
  /** The storage can't be reached, or doesn't answer in time. Whoever retries with the same idempotency key is safe. */
  | 'service_unavailable';

/** The one error that use cases and adapters throw on purpose. Its message is written for the caller. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: DomainErrorCode;

  constructor(code: DomainErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** An `invalid_request` error that names every fault at once. */
export function invalidRequest(violations: readonly string[]): DomainError {
  return new DomainError('invalid_request', violations.join('; '));
}

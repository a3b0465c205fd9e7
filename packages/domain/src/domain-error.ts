/** The codes of errors: a closed set that every transport maps completely. */
export type DomainErrorCode =
  /** An argument breaks a rule; the message names every violation. */
  | 'invalid'
  /** No pet has this id. */
  | 'pet_not_found'
  /** No API key has this id. */
  | 'key_not_found'
  /** The idempotency key already stands for another pet. */
  | 'idempotency_key_reused'
  /** The storage is unavailable or too slow. Retrying is safe, for a creation with the same idempotency key. */
  | 'storage_unavailable';

/** A registered symbol is the same in every copy of this package in a process. */
const BRAND = Symbol.for('@animal-store/domain/DomainError');

/** The only error that use cases and adapters throw intentionally. Its message is for the caller. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: DomainErrorCode;

  constructor(code: DomainErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  static {
    Object.defineProperty(DomainError.prototype, BRAND, { value: true });
  }

  /** Whether a value is a DomainError, of this copy of the package or of another one, where `instanceof` is false. */
  static is(error: unknown): error is DomainError {
    return error instanceof Error && BRAND in error;
  }
}

/** @param violations The violation of each argument, or null. @throws DomainError `invalid`, naming every violation. */
export function rejectViolations(...violations: readonly (string | null)[]): void {
  for (const violation of violations) {
    if (violation === null) continue;
    throw new DomainError('invalid', violations.filter((message) => message !== null).join('; '));
  }
}

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

/** Registered symbols are the same in every copy of this package in a process. */
const DOMAIN_ERROR = Symbol.for('@animal-store/domain/DomainError');
const STORAGE_MISCONFIGURED = Symbol.for('@animal-store/domain/StorageMisconfigured');

/** One argument that breaks a rule. */
export interface FieldViolation {
  /** The name of the argument: `categoryId`. */
  readonly field: string;
  /** The field, the rule and the value: `categoryId must be an integer from …, was "7"`. */
  readonly message: string;
}

/** The only error that use cases and adapters throw intentionally. Its message is for the caller. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: DomainErrorCode;
  /** Each argument that breaks a rule if the code is `invalid`; else empty. */
  readonly violations: readonly FieldViolation[];

  constructor(
    code: DomainErrorCode,
    message: string,
    { violations = [], ...options }: ErrorOptions & { readonly violations?: readonly FieldViolation[] } = {},
  ) {
    super(message, options);
    this.code = code;
    this.violations = violations;
  }

  /** The members that JSON.stringify writes: without it the message, which is not enumerable, would be missing. */
  toJSON(): object {
    const { name, code, message, violations } = this;
    return { name, code, message, violations };
  }

  static {
    Object.defineProperty(DomainError.prototype, DOMAIN_ERROR, {});
  }

  /** Whether a value is a DomainError, of this copy of the package or of another one, for which `instanceof` is false. */
  static is(error: unknown): error is DomainError {
    return error instanceof Error && DOMAIN_ERROR in error;
  }
}

/** The violation of each argument by its name, or null. */
export type Violations = Readonly<Record<string, string | null>>;

/** @throws DomainError `invalid`, naming every violation. */
export function rejectViolations(violations: Violations): void {
  for (const field in violations) if (violations[field] !== null) throw invalid(violations);
}

/** The error that names every violation. */
export function invalid(given: Violations): DomainError {
  const violations = Object.entries(given).flatMap(([field, message]) => (message === null ? [] : { field, message }));
  return new DomainError('invalid', violations.map(({ message }) => message).join('; '), { violations });
}

/**
 * Thrown by `open`, or the `cause` of a `storage_unavailable` error: waiting does not help, the settings must change.
 * The message is one line for the operator, without credentials.
 */
export class StorageMisconfigured extends Error {
  override readonly name = 'StorageMisconfigured';

  static {
    Object.defineProperty(StorageMisconfigured.prototype, STORAGE_MISCONFIGURED, {});
  }

  /** Whether a value is a StorageMisconfigured, of this copy of the package or of another one. */
  static is(error: unknown): error is StorageMisconfigured {
    return error instanceof Error && STORAGE_MISCONFIGURED in error;
  }
}

/**
 * The error of a call that the storage did not serve now.
 *
 * @param cause The error of the driver, for the operator.
 */
export function unavailable(cause?: unknown): DomainError {
  return new DomainError('storage_unavailable', 'the storage is unavailable or does not respond in time: try again', {
    cause,
  });
}

/** The error of a call on a storage that was closed. */
export function closed(): DomainError {
  return new DomainError('storage_unavailable', 'the storage is closed');
}

/** The reason of an error for operators: its cause, if it has one. The message of a DomainError is for callers. */
export function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  return DomainError.is(error) && cause instanceof Error ? cause.message : message;
}

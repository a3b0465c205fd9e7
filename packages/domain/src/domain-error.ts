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
    Object.defineProperty(DomainError.prototype, BRAND, {});
  }

  /** Whether a value is a DomainError, of this copy of the package or of another one, for which `instanceof` is false. */
  static is(error: unknown): error is DomainError {
    return error instanceof Error && BRAND in error;
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

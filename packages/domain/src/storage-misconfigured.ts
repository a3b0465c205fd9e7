/** A registered symbol is the same in every copy of this package in a process. */
const BRAND = Symbol.for('@animal-store/domain/StorageMisconfigured');

/**
 * Thrown by `open`, or the `cause` of a `storage_unavailable` error: waiting does not help, the settings must change.
 * The message is one line for the operator, without credentials.
 */
export class StorageMisconfigured extends Error {
  override readonly name = 'StorageMisconfigured';

  static {
    Object.defineProperty(StorageMisconfigured.prototype, BRAND, {});
  }

  /** Whether a value is a StorageMisconfigured, of this copy of the package or of another one. */
  static is(error: unknown): error is StorageMisconfigured {
    return error instanceof Error && BRAND in error;
  }
}

/** The error of a file that can't be used until its operator does something. The message is the reason. */
export class UnusableFile extends Error {
  override readonly name = 'UnusableFile';
  readonly code = 'ERR_UNUSABLE_FILE';

  /** Also of an error that came from another thread. */
  static is(error: unknown): error is UnusableFile {
    return (error as { code?: unknown } | null | undefined)?.code === 'ERR_UNUSABLE_FILE';
  }
}

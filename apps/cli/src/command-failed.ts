/** A command has done what it could, and that is not all. The message says what is left to do. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

import type { FileIdentity } from '../database/file-identity.ts';

/** What the writer thread is started with. */
export interface WriterData {
  /** The absolute path of a file with the current schema. */
  readonly path: string;
  /** Nothing is committed to other files. */
  readonly identity: FileIdentity;
}

/** The writer thread's reply to a batch of writes: the results, or the error if nothing was committed. */
export type Reply =
  | { readonly results: readonly unknown[]; readonly errors: ReadonlyMap<number, ErrorMessage> }
  | { readonly error: ErrorMessage };

/** An error that crosses threads: structuredClone keeps its name, message and stack, and drops its other members. */
export interface ErrorMessage {
  readonly error: unknown;
  readonly members: { readonly code?: unknown; readonly errcode?: unknown };
}

export function toMessage(error: unknown): ErrorMessage {
  const { code, errcode } = error as ErrorMessage['members'];
  return { error, members: { code, errcode } };
}

export function fromMessage({ error, members }: ErrorMessage): unknown {
  return Object.assign(error as object, members);
}

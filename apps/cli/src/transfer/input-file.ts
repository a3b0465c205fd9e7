import { createHash } from 'node:crypto';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandFailed, inWords } from '../command-failed.ts';
import { MESSAGES } from '../messages.ts';

const CHUNK_BYTES = 256 * 1024;

/** A file as it was when it was opened. It can be read several times. */
export interface InputFile {
  /** Its path, or `stdin`. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** The same for the same bytes: the first 132 bits of their SHA-256, in 22 characters. */
  digest(): Promise<string>;
  /**
   * Each chunk is overwritten by the next one.
   *
   * @throws CommandFailed if the file can't be read, or became shorter.
   */
  chunks(): AsyncGenerator<Buffer>;
  close(): Promise<void>;
}

/**
 * Opens a file. A pipe, or anything else but a regular file, is copied to a temporary file first: it is read more than once.
 *
 * @param path Absent: the standard input.
 * @throws CommandFailed if it can't be opened or copied.
 */
export async function openInputFile(path: string | undefined, stdin: NodeJS.ReadableStream): Promise<InputFile> {
  const name = path ?? 'stdin';
  const fail = (error: unknown): never => {
    throw error instanceof CommandFailed ? error : new CommandFailed(`${name}: ${inWords(error)}`);
  };
  if (path === undefined) return inputFile(await copied(stdin).catch(fail), name, fail);
  const handle = await open(path).catch(fail);
  const stats = await handle.stat();
  if (stats.isDirectory()) {
    await handle.close();
    return fail(new Error(MESSAGES.isFolder));
  }
  return inputFile(stats.isFile() ? handle : await copied(handle.createReadStream()).catch(fail), name, fail);
}

async function copied(stream: NodeJS.ReadableStream): Promise<FileHandle> {
  const fail = (error: unknown): never => {
    throw new CommandFailed(MESSAGES.temporaryFile(inWords(error)));
  };
  const handle = await openTemporaryFile().catch(fail);
  for await (const chunk of stream) await handle.writeFile(chunk as Buffer).catch(fail);
  return handle;
}

/** A file without a name. It stays until it is closed, and no longer, however the process ends. */
async function openTemporaryFile(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  try {
    return await open(join(folder, 'import'), 'wx+', 0o600);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** @param fail Throws a CommandFailed for an error. */
async function inputFile(handle: FileHandle, name: string, fail: (error: unknown) => never): Promise<InputFile> {
  // Bytes that are appended meanwhile are not read.
  const { size } = await handle.stat();

  async function* chunks(): AsyncGenerator<Buffer> {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let position = 0; position < size; ) {
      const length = Math.min(CHUNK_BYTES, size - position);
      const { bytesRead } = await handle.read(buffer, 0, length, position).catch(fail);
      if (bytesRead === 0) fail(new Error(MESSAGES.becameShorter));
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  return {
    name,
    size,
    chunks,
    async digest() {
      const hash = createHash('sha256');
      for await (const chunk of chunks()) hash.update(chunk);
      return hash.digest('base64url').slice(0, 22);
    },
    close: () => handle.close(),
  };
}

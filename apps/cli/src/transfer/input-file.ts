import { createHash } from 'node:crypto';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandFailed } from '../command-failed.ts';

const CHUNK_BYTES = 256 * 1024;

/** A file as it was when it was opened. It can be read several times. */
export interface InputFile {
  /** In bytes. */
  readonly size: number;
  /** The same for the same bytes: the first 132 bits of their SHA-256, in 22 characters. */
  digest(): Promise<string>;
  /**
   * Each chunk is overwritten by the next one.
   *
   * @throws CommandFailed if the file became shorter.
   */
  chunks(): AsyncGenerator<Buffer>;
  close(): Promise<void>;
}

/**
 * Opens a file. What is no regular file, like a pipe, is copied to a temporary file first: it is read more than once.
 *
 * @param path Absent: the standard input.
 * @throws CommandFailed if it can't be opened.
 */
export async function openInputFile(path: string | undefined, stdin: NodeJS.ReadableStream): Promise<InputFile> {
  if (path === undefined) return inputFile(await copied(stdin));
  const handle = await open(path).catch((error: Error) => {
    throw new CommandFailed(error.message);
  });
  const stats = await handle.stat();
  if (stats.isDirectory()) {
    await handle.close();
    throw new CommandFailed(`${path} is a folder`);
  }
  return inputFile(stats.isFile() ? handle : await copied(handle.createReadStream()));
}

async function copied(stream: NodeJS.ReadableStream): Promise<FileHandle> {
  try {
    const handle = await openTemporaryFile();
    for await (const chunk of stream) await handle.writeFile(chunk as Buffer);
    return handle;
  } catch (error) {
    throw new CommandFailed(`the input can't be copied to a temporary file: ${(error as Error).message}; set TMPDIR`);
  }
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

async function inputFile(handle: FileHandle): Promise<InputFile> {
  // What is appended meanwhile is not read.
  const { size } = await handle.stat();

  async function* chunks(): AsyncGenerator<Buffer> {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let position = 0; position < size; ) {
      const { bytesRead } = await handle.read(buffer, 0, Math.min(CHUNK_BYTES, size - position), position);
      if (bytesRead === 0) throw new CommandFailed('the file became shorter while it was read');
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  return {
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

import { createHash } from 'node:crypto';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandFailed, inWords } from '../command-failed.ts';
import { MESSAGES } from '../messages.ts';
import { UnreadableFile } from '../pet-files/pet-format.ts';

const CHUNK_BYTES = 256 * 1024;

/** A file as it was when it was opened. It can be read several times. */
export class InputFile {
  /** Its path, or `stdin`. */
  readonly name: string;
  readonly #handle: FileHandle;
  /** In bytes. Later additions to the file are not read. */
  readonly #size: number;
  #position = 0;

  private constructor(name: string, handle: FileHandle, size: number) {
    this.name = name;
    this.#handle = handle;
    this.#size = size;
  }

  /** Opens a file, or copies a pipe, or anything else that can't be read more than once, to a temporary file. */
  static async open(path: string | undefined, stdin: NodeJS.ReadableStream): Promise<InputFile> {
    const given = path === undefined ? null : await open(path).catch(unreadable);
    const isRegular = (await given?.stat())?.isFile();
    const handle =
      given !== null && isRegular ? given : await copied(given?.createReadStream() ?? stdin).catch(unreadable);
    return new InputFile(path ?? 'stdin', handle, (await handle.stat()).size);
  }

  /** The share of the file that was read, 0 to 1. */
  get share(): number {
    return this.#position / Math.max(this.#size, 1);
  }

  /** Reads the file from its beginning. Each chunk is overwritten by the next one. */
  async *chunks(): AsyncGenerator<Buffer> {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (this.#position = 0; this.#position < this.#size; ) {
      const length = Math.min(CHUNK_BYTES, this.#size - this.#position);
      const { bytesRead } = await this.#handle.read(buffer, 0, length, this.#position).catch(unreadable);
      if (bytesRead === 0) throw new UnreadableFile(MESSAGES.becameShorter);
      this.#position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** The same for the same bytes: the first 132 bits of their SHA-256, in 22 characters. */
  async digest(): Promise<string> {
    const hash = createHash('sha256');
    for await (const chunk of this.chunks()) hash.update(chunk);
    return hash.digest('base64url').slice(0, 22);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

function unreadable(error: unknown): never {
  throw error instanceof CommandFailed ? error : new UnreadableFile(inWords(error));
}

async function copied(stream: NodeJS.ReadableStream): Promise<FileHandle> {
  const fail = (error: unknown): never => {
    throw new CommandFailed(MESSAGES.temporaryFile(inWords(error)));
  };
  const handle = await openTemporaryFile().catch(fail);
  try {
    for await (const chunk of stream) await handle.writeFile(chunk as Buffer).catch(fail);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** A file without a name, which exists until it is closed or the process ends. */
async function openTemporaryFile(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  try {
    return await open(join(folder, 'import'), 'wx+', 0o600);
  } finally {
    await rm(folder, { recursive: true });
  }
}

// SQLite reports a disk that fails to read as damage of the file, too. This module tells them apart.

import { type FileHandle, open } from 'node:fs/promises';
import type { StorageMisconfigured } from '@animal-store/domain/ports';
import { kindOf, unusable } from './failures.ts';
import { identityOf } from './file.ts';
import { CHECK, connect } from './schema.ts';

/** How many bytes are read at once. */
const CHUNK = 2 ** 20;

/**
 * Files that were read, by path and identity. They stay open: closing one would drop the locks that SQLite's connections of this
 * process have on it (https://sqlite.org/howtocorrupt.html, 2.2).
 */
const opened = new Map<string, Promise<FileHandle>>();

/**
 * Reads a file and its log, and the disk's error if it can't be read.
 *
 * @returns null if it can be read.
 */
export async function readFailure(path: string, signal?: AbortSignal): Promise<NodeJS.ErrnoException | null> {
  try {
    for (const file of [path, `${path}-wal`]) await readThrough(file, signal);
    return null;
  } catch (error) {
    if (signal?.aborted) throw error;
    const { code } = error as NodeJS.ErrnoException;
    // The last connection that was closed has deleted the log.
    return code === 'ENOENT' ? null : (error as NodeJS.ErrnoException);
  }
}

async function readThrough(file: string, signal?: AbortSignal): Promise<void> {
  const key = `${file} ${identityOf(file)}`;
  const opening = opened.get(key) ?? open(file);
  opened.set(key, opening);
  const handle = await opening.catch((error) => {
    opened.delete(key);
    throw error;
  });
  const buffer = Buffer.allocUnsafe(CHUNK);
  for (let position = 0, bytes = 1; bytes > 0; position += bytes) {
    signal?.throwIfAborted();
    bytes = (await handle.read(buffer, 0, CHUNK, position)).bytesRead;
  }
}

/**
 * What is wrong with a file of which SQLite has reported damage. A sentence that tells to restore a backup needs both: each byte
 * can be read, and SQLite's own check finds damage.
 *
 * @param check Runs {@link CHECK}, and returns its line; an error of SQLite is one, too.
 * @returns `isProven`: waiting can't help. null if nothing is wrong, or nothing any more.
 */
export async function examine(
  path: string,
  check: () => Promise<string>,
  signal?: AbortSignal,
): Promise<{ readonly reason: StorageMisconfigured; readonly isProven: boolean } | null> {
  const failure = await readFailure(path, signal);
  if (failure !== null) {
    const sentence = `it cannot be read (${failure.code}): check the disk, because the file may be whole`;
    return { reason: unusable(path, sentence, { cause: failure }), isProven: false };
  }
  const found = await check().catch((error: unknown) => {
    if (kindOf(error).isDamage) return error as Error;
    throw error;
  });
  if (found === 'ok') return null;
  const line = found instanceof Error ? found.message : found.replaceAll('\n', ' ');
  const sentence = kindOf(found).operator ?? `it is damaged (${line}): restore a backup`;
  return { reason: unusable(path, sentence), isProven: true };
}

/** The same for a file that no connection of this process has open, on one of its own. */
export const examineClosed = (path: string): ReturnType<typeof examine> =>
  examine(path, async () => {
    const { db, run } = connect(path);
    using _ = db;
    return String(run([[CHECK]])[0]?.[0]);
  });

import { readFileSync } from 'node:fs';

/** Descriptors that are not for clients: of Node.js, the log and the storage. */
const RESERVED = 200;

/** How many files and connections this process may have open; null on systems other than Linux. */
export function openFilesLimit(limits = '/proc/self/limits'): number | null {
  try {
    const soft = /Max open files +(\d+)/.exec(String(readFileSync(limits)))?.[1];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}

/**
 * Limits connections so that descriptors are left. Without one (EMFILE) libuv closes each new connection, and Node.js does not
 * learn of it: those connections could be neither counted nor logged.
 */
export function connectionLimit(maxConnections: number, openFiles: number | null): number {
  if (openFiles === null) return maxConnections;
  return Math.min(maxConnections, Math.max(openFiles - RESERVED, Math.floor(openFiles / 2)));
}

import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { KEY } from './peers/catalogue.ts';

/** A server that listens, in a process of its own. */
export interface Server {
  readonly name: string;
  readonly url: string;
  readonly process: ChildProcess;
}

/**
 * @param file A program, relative to this one, that prints the URL it listens at.
 * @param environment What it finds in its environment beside what is in this one's.
 */
export function startServer(name: string, file: string, environment: NodeJS.ProcessEnv = {}): Promise<Server> {
  const process_ = spawn(process.execPath, ['--conditions=source', fileURLToPath(new URL(file, import.meta.url))], {
    env: { ...process.env, ...environment, PORT: '0', API_KEYS: KEY },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    process_.on('exit', (code) => reject(new Error(`${name} ended with ${code}`)));
    process_.stdout.on('data', (chunk: Buffer) => {
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(chunk.toString())?.[0];
      if (url === undefined) return;
      // Its log is read and dropped.
      process_.stdout.removeAllListeners('data').resume();
      resolve({ name, url, process: process_ });
    });
  });
}

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromSources } from './programs.ts';

/** The API key of the service. */
export const KEY = 'the-key-of-the-tests';

/** The service as a process of its own, which disposal kills. */
export interface Service extends AsyncDisposable {
  /** The URL with the base path. */
  readonly url: string;
  /** The variables that every example and every program for clients reads. */
  readonly environment: { readonly BASE_URL: string; readonly API_KEY: string };
}

/**
 * Starts the service from its sources, by default with its pets in memory and on a free port.
 *
 * @throws Error if the process ends before it listens.
 */
export async function startService(environment: NodeJS.ProcessEnv = {}): Promise<Service> {
  const child = spawn(process.execPath, fromSources('http'), {
    env: { PORT: '0', STORAGE: 'memory', API_KEYS: KEY, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'close');
  const { url } = await new Promise<{ url: string }>((resolve, reject) => {
    // All of it is read, so that the log never blocks the process.
    createInterface(child.stdout).on('line', (line) => {
      if (line.includes('"url"')) resolve(JSON.parse(line));
      if (/"level":[56]0/.test(line)) process.stderr.write(`${line}\n`);
    });
    exit.then(([code]) => reject(new Error(`the service ended with code ${code}`)), reject);
  });
  return {
    url,
    environment: { BASE_URL: url, API_KEY: KEY },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

/** Calls a service at an origin, with this key or another. */
export function callsTo(origin: string) {
  const call = (path: string, key = KEY, init: RequestInit = {}) =>
    fetch(new URL(path, origin), {
      ...init,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...init.headers },
    });
  /** Creates a pet, once, although a busy disk may need longer for it than a request may take. */
  async function add(name: string, key = KEY): Promise<Response> {
    const body = `{"name":"${name}","categoryId":9223372036854775807}`;
    const headers = { 'idempotency-key': randomUUID() };
    for (let left = 10; ; left -= 1) {
      const response = await call('/v1/pets', key, { method: 'POST', body, headers });
      if (response.status !== 503 || left === 0) return response;
      await sleep(1_000 * Number(response.headers.get('retry-after')));
    }
  }
  return { call, add };
}

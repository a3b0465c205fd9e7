import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../../apps/http/src/main.ts', import.meta.url));

const API_KEY = 'the-key-of-the-clients';

/** The service as a process of its own, on a free port, with its animals in memory. */
export interface Service extends AsyncDisposable {
  /** The OpenAPI document as the service returns it. */
  readonly document: string;
  /** The variables that every example and every program reads. */
  readonly environment: { readonly BASE_URL: string; readonly API_KEY: string };
}

/**
 * Starts the service.
 *
 * @throws Error if the process ends before it listens.
 */
export async function startService(): Promise<Service> {
  const child = spawn(process.execPath, ['--conditions=@animal-store/source', MAIN], {
    env: { PORT: '0', API_KEYS: API_KEY },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'close');
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const [address] = /http:\/\/127\.0\.0\.1:\d+\/v1/.exec(output) ?? [];
      if (address !== undefined) resolve(address);
    });
    exit.then(() => reject(new Error(`the service ended before it listened: ${output}`)), reject);
  });
  const response = await fetch(new URL('/openapi.json', url));
  return {
    document: await response.text(),
    environment: { BASE_URL: url, API_KEY },
    async [Symbol.asyncDispose]() {
      child.kill();
      await exit;
    },
  };
}

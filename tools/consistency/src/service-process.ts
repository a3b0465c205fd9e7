import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../../apps/http/src/main.ts', import.meta.url));

export const API_KEY = 'the-key-of-the-clients';

/** The service as a process of its own. */
export interface ServiceProcess extends AsyncDisposable {
  readonly port: number;
}

/**
 * Starts the service on a database.
 *
 * @param environment What leads it there.
 * @param port A free one by default.
 * @throws Error if the process ends before it listens.
 */
export async function startServiceProcess(
  environment: Readonly<Record<string, string>>,
  port = 0,
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, ['--conditions=@animal-store/source', MAIN], {
    env: {
      PORT: String(port),
      API_KEYS: API_KEY,
      ...environment,
      // Load must not be shed on a machine that is busy with other work.
      MAX_EVENT_LOOP_DELAY_MS: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'close');
  const listening = await new Promise<number>((resolve, reject) => {
    // All of it is read, so that the log never blocks the process.
    createInterface(child.stdout).on('line', (line) => {
      const [, number] = /127\.0\.0\.1:(\d+)\/v1/.exec(line) ?? [];
      if (number !== undefined) resolve(Number(number));
      if (/"level":[56]0/.test(line)) process.stderr.write(`${line}\n`);
    });
    exit.then(([code]) => reject(new Error(`the service ended with code ${code}`)), reject);
  });
  return {
    port: listening,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

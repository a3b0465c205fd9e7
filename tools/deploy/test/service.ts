import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';

const MAIN = fileURLToPath(new URL('../../../apps/http/src/main.ts', import.meta.url));

/** Starts the service on a free port; it is killed when the running test ends. @returns Its origin. */
export async function startService(environment: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, ['--conditions=@animal-store/source', MAIN], {
    env: { ...environment, STORAGE: 'memory', PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await expect.poll(() => output, { timeout: 10_000 }).toContain('"url"');
  return new URL(JSON.parse(output.split('\n')[0] as string).url).origin;
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const PROGRAM = fileURLToPath(new URL('listener-process.ts', import.meta.url));

/** Starts `listener-process.ts` with these flags of Node.js for the running test. */
export async function startListenerProcess(...flags: string[]): Promise<{ port: number; process: ChildProcess }> {
  const process_ = spawn(process.execPath, ['--conditions=@animal-store/source', ...flags, PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void process_.kill('SIGKILL'));
  const [line] = (await once(process_.stdout, 'data')) as [Buffer];
  return { port: Number(line), process: process_ };
}

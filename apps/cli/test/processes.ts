import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** The program from its source, as arguments of Node.js. */
export const PROGRAM = ['--conditions=@animal-store/source', fileURLToPath(new URL('../src/main.ts', import.meta.url))];

const PATH = process.env['PATH'] as string;

/** Starts the program. It is killed when the running test ends. */
export function start(environment: Record<string, string>, words: readonly string[], output: 'pipe' | number = 'pipe') {
  const child = spawn(process.execPath, [...PROGRAM, ...words], {
    env: { PATH, ...environment },
    stdio: ['pipe', output, 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** The output of a program that has ended. */
export async function ended(child: ChildProcess): Promise<{ code: number | null; out: string; err: string }> {
  let [out, err] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (chunk) => (out += chunk));
  child.stderr?.setEncoding('utf8').on('data', (chunk) => (err += chunk));
  const [code] = await once(child, 'close');
  return { code, out, err };
}

/** Runs the program to its end. */
export function run(environment: Record<string, string>, ...words: string[]) {
  return ended(start(environment, words));
}

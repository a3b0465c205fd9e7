import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** The program from its source, as arguments of Node.js. */
export const PROGRAM = ['--conditions=@animal-store/source', fileURLToPath(new URL('../src/main.ts', import.meta.url))];

const PATH = process.env['PATH'] as string;

/** A folder that goes when the running test ends. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Starts the program. It is killed when the running test ends. */
export function start(environment: Record<string, string>, ...words: string[]): ChildProcess {
  return startWithOutput('pipe', environment, ...words);
}

/** Starts the program with a standard output of its own. It is killed when the running test ends. */
export function startWithOutput(
  output: 'pipe' | number,
  environment: Record<string, string>,
  ...words: string[]
): ChildProcess {
  const child = spawn(process.execPath, [...PROGRAM, ...words], {
    env: { PATH, ...environment },
    stdio: ['pipe', output, 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** The output of a program that has ended. */
export async function ended(child: ChildProcess): Promise<{ code: number | null; out: string; err: string }> {
  const [out, err]: Buffer[][] = [[], []];
  child.stdout?.on('data', (chunk: Buffer) => out?.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => err?.push(chunk));
  const [code] = await once(child, 'close');
  return { code, out: Buffer.concat(out ?? []).toString(), err: Buffer.concat(err ?? []).toString() };
}

/** Runs the program to its end. */
export function run(environment: Record<string, string>, ...words: string[]) {
  return ended(start(environment, ...words));
}

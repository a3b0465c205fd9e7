import { type ChildProcessWithoutNullStreams, type StdioOptions, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { type Service, serviceAt } from './service.ts';

/** The program of the service. */
export const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** The service as a process of its own. */
export interface Running {
  readonly process: ChildProcessWithoutNullStreams;
  readonly output: { out: string; err: string };
  /** Its exit code. */
  readonly exit: Promise<number | null>;
  /** Waits until it says where it listens. */
  listens(): Promise<Service>;
  /** Waits until standard output matches. Rejects if the process ends before. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  /** The lines of the log with this level, or with this message. */
  logged(which: number | string): Record<string, unknown>[];
}

interface ProcessOptions {
  /** For standard input, output and error. */
  readonly stdio?: StdioOptions;
  /** How many files the process may have open. */
  readonly openFiles?: number;
  /** @default MAIN */
  readonly program?: string;
}

/** Starts the process for the running test; it is killed when the test ends. */
export function startProcess(
  environment: Record<string, string>,
  { stdio = 'pipe', openFiles, program = MAIN }: ProcessOptions = {},
): Running {
  const limit = openFiles === undefined ? '' : `ulimit -n ${openFiles};`;
  const command = [`${limit} exec "$0" "$@"`, process.execPath, '--conditions=@animal-store/source', program];
  const child = spawn('/bin/sh', ['-c', ...command], {
    env: { PATH: process.env['PATH'] as string, PORT: '0', ...environment },
    stdio,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const output = { out: '', err: '' };
  child.stdout?.on('data', (chunk) => {
    output.out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    output.err += chunk;
  });
  const exit = new Promise<number | null>((resolve) => child.on('close', resolve));
  const says = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(output.out);
        if (found === null) return;
        child.stdout?.off('data', look);
        resolve(found);
      };
      child.stdout?.on('data', look);
      void exit.then((code) => reject(new Error(`it ended with ${code} and did not say ${pattern}: ${output.err}`)));
      look();
    });
  const logged = (which: number | string) => {
    const lines = output.out.trim().split('\n');
    const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    return parsed.filter(({ level, msg }) => level === which || msg === which);
  };
  return {
    process: child as ChildProcessWithoutNullStreams,
    output,
    exit,
    says,
    logged,
    listens: async () => serviceAt(Number((await says(/127\.0\.0\.1:(\d+)\/v1/))[1])),
  };
}

import { type ExecFileOptions, execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The folder of the repository. */
export const ROOT: string = fileURLToPath(new URL('../../..', import.meta.url));

/** What follows `node` so that it runs an application of the repository from its sources. */
export const fromSources = (application: string): string[] => [
  '--conditions=@animal-store/source',
  `${ROOT}apps/${application}/src/main.ts`,
];

/**
 * Runs a program to its end, and returns its standard output.
 *
 * @throws Error with `code`, `stdout` and `stderr` if it fails; the message has all that it wrote.
 */
export async function run(program: string, words: readonly string[], options: ExecFileOptions = {}): Promise<string> {
  try {
    const settings = { maxBuffer: 2 ** 26, ...options, encoding: 'utf8' } as const;
    return (await promisify(execFile)(program, words, settings)).stdout;
  } catch (error) {
    const { message, stdout } = error as { message: string; stdout: string };
    throw Object.assign(error as Error, { message: `${message}\n${stdout}` });
  }
}

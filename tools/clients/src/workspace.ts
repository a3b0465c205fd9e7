import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PACKAGE = join(ROOT, 'tools/clients');

/** The examples for clients. */
export const EXAMPLES: string = join(ROOT, 'docs/examples');

/** Programs of the repository come before those of this package, which has an older TypeScript, and those of the system. */
const PATH = [join(ROOT, 'node_modules/.bin'), join(PACKAGE, 'node_modules/.bin'), process.env['PATH']].join(delimiter);

/** A folder for one client, as its developer would have it. The dependencies of this package are found from it. */
export interface Workspace extends Disposable {
  /** Writes a file. `path` is relative to the folder. */
  write(path: string, text: string): void;
  /** Reads a file. `path` is relative to the folder. */
  read(path: string): string;
  /** Writes a shell script that is run in place of a program of this name. */
  writeProgram(name: string, script: string): void;
  /** Copies a file of docs/examples. */
  copyExample(name: string): void;
  /** Copies the files of a folder of `programs/`. */
  copyPrograms(folder: string): void;
  /**
   * Runs a program in the folder.
   *
   * @returns Its standard output.
   * @throws Error with everything that it wrote, if it fails.
   */
  run(program: string, words: readonly string[], environment?: NodeJS.ProcessEnv): Promise<string>;
}

/** Makes an empty folder, which is removed with everything in it on disposal. */
export function createWorkspace(): Workspace {
  const parent = join(PACKAGE, 'generated');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'client-'));
  return {
    write: (path, text) => writeFileSync(join(folder, path), text),
    read: (path) => readFileSync(join(folder, path), 'utf8'),
    writeProgram(name, script) {
      mkdirSync(join(folder, 'bin'), { recursive: true });
      writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    },
    copyExample: (name) => cpSync(join(EXAMPLES, name), join(folder, name)),
    copyPrograms: (programs) => cpSync(join(PACKAGE, 'programs', programs), folder, { recursive: true }),
    async run(program, words, environment = {}) {
      const path = [join(folder, 'bin'), environment['PATH'] ?? PATH].join(delimiter);
      const env = { ...process.env, ...environment, PATH: path };
      try {
        return (await promisify(execFile)(program, words, { cwd: folder, env, maxBuffer: 2 ** 26 })).stdout;
      } catch (error) {
        const { message, stdout, stderr } = error as { message: string; stdout: string; stderr: string };
        throw new Error(`${message}\n${stdout}\n${stderr}`);
      }
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

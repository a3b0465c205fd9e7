import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ROOT, run } from '@animal-store/test-kit/programs';

const PACKAGE = join(ROOT, 'tools/clients');

/** The examples for clients. */
export const EXAMPLES: string = join(ROOT, 'docs/examples');

/** What tests generate. It is removed at the end of a run. */
export const GENERATED: string = join(PACKAGE, 'generated');

/** The virtual environment of Python of this process: others may install packages at the same time. */
const PYTHON = join(GENERATED, `python-${crypto.randomUUID()}`);

/** Programs of the repository come before those of the system. */
const PATH = [join(PYTHON, 'bin'), join(ROOT, 'node_modules/.bin'), process.env['PATH']].join(delimiter);

/** A folder for one client, as its developer would have it. The dependencies of this package are found from it. */
export interface Workspace extends Disposable {
  readonly folder: string;
  /**
   * Runs a program in the folder.
   *
   * @returns Its standard output.
   * @throws Error with everything that it wrote, if it fails.
   */
  run(program: string, words: readonly string[], environment?: NodeJS.ProcessEnv): Promise<string>;
}

/** Makes a folder with all examples and those of `programs/<language>`, which is removed on disposal. */
export function createWorkspace(language?: string): Workspace {
  mkdirSync(GENERATED, { recursive: true });
  const folder = mkdtempSync(join(GENERATED, 'client-'));
  cpSync(EXAMPLES, folder, { recursive: true });
  if (language !== undefined) cpSync(join(PACKAGE, 'programs', language), folder, { recursive: true });
  return {
    folder,
    run(program, words, environment = {}) {
      const env = { ...process.env, PIP_DISABLE_PIP_VERSION_CHECK: '1', ...environment, PATH };
      return run(program, words, { cwd: folder, env });
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Installs the packages of the examples in Python, and others as pip names them. */
export async function installPythonPackages({ run }: Workspace, ...packages: readonly string[]): Promise<void> {
  if (!existsSync(join(PYTHON, 'bin/pip'))) await run('python3', ['-m', 'venv', PYTHON]);
  await run('pip', ['install', '--requirement', 'requirements.txt', ...packages]);
}

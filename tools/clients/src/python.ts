import { existsSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { EXAMPLES, type Workspace } from './workspace.ts';

/** The virtual environment is kept from run to run. Each test file has its own, because they run at the same time. */
function virtualEnvironment(): string {
  const { testPath } = expect.getState();
  return fileURLToPath(new URL(`../node_modules/.cache/python-${basename(testPath as string)}`, import.meta.url));
}

/** The variables of an activated virtual environment with the packages of the examples. Makes it if there is none. */
export async function activatePython({ run }: Workspace): Promise<NodeJS.ProcessEnv> {
  const folder = virtualEnvironment();
  if (!existsSync(join(folder, 'bin/pip'))) await run('python3', ['-m', 'venv', folder]);
  const environment = {
    PATH: [join(folder, 'bin'), process.env['PATH']].join(delimiter),
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
  };
  await run('pip', ['install', '--requirement', join(EXAMPLES, 'requirements.txt')], environment);
  return environment;
}

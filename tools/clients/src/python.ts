import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXAMPLES, type Workspace } from './workspace.ts';

/** Kept from run to run. */
const VIRTUAL_ENVIRONMENT = fileURLToPath(new URL('../node_modules/.cache/python', import.meta.url));

/** The variables of an activated virtual environment with the packages of the examples. Makes it if there is none. */
export async function activatePython({ run }: Workspace): Promise<NodeJS.ProcessEnv> {
  if (!existsSync(join(VIRTUAL_ENVIRONMENT, 'bin/pip'))) await run('python3', ['-m', 'venv', VIRTUAL_ENVIRONMENT]);
  const environment = {
    PATH: [join(VIRTUAL_ENVIRONMENT, 'bin'), process.env['PATH']].join(delimiter),
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
  };
  await run('pip', ['install', '--requirement', join(EXAMPLES, 'requirements.txt')], environment);
  return environment;
}

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isGone, PROCESS } from '@animal-store/test-kit/owner';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Relative to the root of the repository, which is the build's context. */
const DOCKERFILE = 'tools/deploy/image/Dockerfile';

const LABEL = 'animal-store.deploy';

/** Marks the containers and networks of this run, so that a later run removes them if this one crashes. */
export const OWNED: string = `--label=${LABEL}=${PROCESS}`;

const execute = promisify(execFile);

/**
 * Runs a command of the engine's client.
 *
 * @returns Its standard output.
 * @throws Error with `code`, `stdout` and `stderr`.
 */
export async function docker(...args: readonly string[]): Promise<string> {
  const { stdout } = await execute('docker', args, { maxBuffer: 64 * 1024 * 1024 });
  return stdout.trim();
}

/** The image of the MongoDB server in the tests. */
export const MONGODB_IMAGE: string = process.env['MONGODB_IMAGE'] ?? 'mongo:8.0';

/** The image of the PostgreSQL server in the tests. */
export const POSTGRES_IMAGE: string = process.env['POSTGRES_IMAGE'] ?? 'postgres:17';

/** Why no container can be built and run here: no engine responds, or an image is missing. Null if containers can. */
export async function whyNoContainers(): Promise<string | null> {
  const dockerfile = readFileSync(`${ROOT}/${DOCKERFILE}`, 'utf8');
  const [, base = ''] = /^ARG NODE_IMAGE=(.+)$/m.exec(dockerfile) ?? [];
  try {
    await docker('version');
    for (const image of [base, MONGODB_IMAGE, POSTGRES_IMAGE]) {
      await docker('image', 'inspect', image).catch(() => docker('pull', '--quiet', image));
    }
    return null;
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    return stderr.trim() || message;
  }
}

/** The command of Compose: the plugin of Docker, or the program in Debian 12. Throws an Error if there is neither. */
export async function composeCommand(): Promise<string> {
  const [plugin, program] = ['docker compose', 'docker-compose'];
  try {
    await execute('sh', ['-c', `${plugin} version`]);
    return plugin;
  } catch {
    await execute('sh', ['-c', `${program} version`]);
    return program;
  }
}

/** Builds the image with these build arguments, and returns its id. */
export async function buildImage(given: Readonly<Record<string, string>>): Promise<string> {
  const options = Object.entries(given).map(([name, value]) => `--build-arg=${name}=${value}`);
  return docker('build', '--quiet', `--file=${ROOT}/${DOCKERFILE}`, '--tag=animal-store:test', ...options, ROOT);
}

/** Removes the containers and networks of runs on this machine that have crashed. */
export async function removeStale(): Promise<void> {
  const stale = async (...list: readonly string[]) => {
    const format = `{{.ID}} {{.Label "${LABEL}"}}`;
    const lines = await docker(...list, '--filter', `label=${LABEL}`, '--format', format);
    return lines.split('\n').flatMap((line) => {
      const [id = '', owner = ''] = line.split(' ');
      return isGone(owner) ? [id] : [];
    });
  };
  // Another run may remove them at the same time.
  for (const id of await stale('container', 'ls', '--all')) {
    await docker('container', 'rm', '--force', '--volumes', id).catch(() => {});
  }
  for (const id of await stale('network', 'ls')) await docker('network', 'rm', id).catch(() => {});
}

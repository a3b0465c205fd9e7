import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isGone, PROCESS } from '@animal-store/test-mongodb/owner';

const root = fileURLToPath(new URL('../../..', import.meta.url));

const LABEL = 'animal-store.container-smoke';

/** Marks what a run makes, so that a later one recognises it should this one crash. */
export const OWNED: string = `--label=${LABEL}=${PROCESS}`;

const execute = promisify(execFile);

/**
 * Runs a command of the engine's client.
 *
 * @returns What it wrote to standard output.
 * @throws Error with `code`, `stdout` and `stderr`.
 */
export async function docker(...args: readonly string[]): Promise<string> {
  const { stdout } = await execute('docker', args, { maxBuffer: 64 * 1024 * 1024 });
  return stdout.trim();
}

/** The image of MongoDB's server that the service is tried with. */
export const MONGODB_IMAGE: string = process.env['MONGODB_IMAGE'] ?? 'mongo:8.0';

/** Why no image can be built or run: no engine answers, or an image can't be had. Null where they can. */
export async function whyNoContainers(): Promise<string | null> {
  const dockerfile = readFileSync(`${root}/Dockerfile`, 'utf8');
  const [, base = ''] = /^ARG NODE_IMAGE=(.+)$/m.exec(dockerfile) ?? [];
  try {
    await docker('version');
    for (const image of [base, MONGODB_IMAGE]) {
      await docker('image', 'inspect', image).catch(() => docker('pull', '--quiet', image));
    }
    return null;
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    return stderr.trim() || message;
  }
}

/** Builds the image. @returns Its id. */
export async function buildImage(version: string): Promise<string> {
  return docker('build', '--quiet', '--tag', 'animal-store:smoke', '--build-arg', `VERSION=${version}`, root);
}

/** Removes the containers and networks of runs on this machine that were killed. */
export async function removeStale(): Promise<void> {
  const stale = async (...list: readonly string[]) => {
    const format = `{{.ID}} {{.Label "${LABEL}"}}`;
    const lines = await docker(...list, '--filter', `label=${LABEL}`, '--format', format);
    return lines.split('\n').flatMap((line) => {
      const [id = '', owner = ''] = line.split(' ');
      return isGone(owner) ? [id] : [];
    });
  };
  // Another run may be removing them, too.
  for (const id of await stale('container', 'ls', '--all')) {
    await docker('container', 'rm', '--force', '--volumes', id).catch(() => {});
  }
  for (const id of await stale('network', 'ls')) await docker('network', 'rm', id).catch(() => {});
}

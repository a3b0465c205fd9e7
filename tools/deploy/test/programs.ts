import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { KEY } from '@animal-store/test-kit/service';
import { OWNER, PROCESS, whyNoContainers } from '@animal-store/test-servers/containers';
import { onTestFinished } from 'vitest';

/** The folder of the repository. */
export const ROOT: string = fileURLToPath(new URL('../../..', import.meta.url));

/** The part of a page of docs/ that matches a pattern: its group, or all of it if there is none. */
export function documented(page: string, pattern: RegExp): string {
  const [all, part = all] = pattern.exec(readFileSync(`${ROOT}/docs/${page}`, 'utf8')) ?? [];
  if (part === undefined) throw new Error(`docs/${page} has no ${pattern}`);
  return part;
}

/** Relative to the root of the repository, which is the build's context. */
const DOCKERFILE = 'tools/deploy/image/Dockerfile';

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

/** Starts a container, which is removed when the running test ends, and returns its id. */
export async function startContainer(...args: readonly string[]): Promise<string> {
  const container = await docker('run', '--detach', `--label=${OWNER}=${PROCESS}`, ...args);
  onTestFinished(async () => {
    await docker('rm', '--force', '--volumes', container);
  });
  return container;
}

/** The address of this machine that leads to a port of a container: `127.0.0.1:1234`. */
export const addressOf = (container: string, port: number): Promise<string> => docker('port', container, `${port}/tcp`);

/** Calls the service at an origin. */
export function callsTo(origin: string) {
  const call = (path: string, key = KEY, init: RequestInit = {}) =>
    fetch(`${origin}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
  /** Creates a pet. */
  const add = (name: string, key = KEY) =>
    call('/v1/pets', key, { method: 'POST', body: `{"name":"${name}","categoryId":9223372036854775807}` });
  return { call, add };
}

/** The image of the MongoDB server in the tests. */
export const MONGODB_IMAGE: string = process.env['MONGODB_IMAGE'] ?? 'mongo:8.0';

/** The image of the PostgreSQL server in the tests. */
export const POSTGRES_IMAGE: string = process.env['POSTGRES_IMAGE'] ?? 'postgres:17';

/** Why the image can't be built and run here; null if it can. */
export async function whyNoImage(): Promise<string | null> {
  const dockerfile = readFileSync(`${ROOT}/${DOCKERFILE}`, 'utf8');
  const [, base = ''] = /^ARG NODE_IMAGE=(.+)$/m.exec(dockerfile) ?? [];
  try {
    await docker('version');
    return await whyNoContainers(base, MONGODB_IMAGE, POSTGRES_IMAGE);
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

/** Prometheus' tool. */
export const PROMTOOL: string = process.env['PROMTOOL'] ?? 'promtool';

/** The folder of the alerts and the dashboard. */
export const MONITORING: URL = new URL('../monitoring/', import.meta.url);

/** Runs {@link PROMTOOL} in that folder. */
export function promtool(...words: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(PROMTOOL, words, { cwd: fileURLToPath(MONITORING), encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
}

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fromSources, ROOT, run } from '@animal-store/test-kit/programs';
import { callsTo, startService } from '@animal-store/test-kit/service';
import { OWNER, PROCESS, whyNoContainers } from '@animal-store/test-servers/containers';
import { IMAGE as MONGODB_IMAGE } from '@animal-store/test-servers/mongodb/server';
import { IMAGE as POSTGRES_IMAGE } from '@animal-store/test-servers/postgres/server';
import { onTestFinished } from 'vitest';

/** The part of a page of docs/ that matches a pattern: its group, or all of it if there is none. */
export function documented(page: string, pattern: RegExp): string {
  const [all, part = all] = pattern.exec(readFileSync(`${ROOT}/docs/${page}`, 'utf8')) ?? [];
  if (part === undefined) throw new Error(`docs/${page} has no ${pattern}`);
  return part;
}

/** Relative to the root of the repository, which is the build's context. */
const DOCKERFILE = 'tools/deploy/image/Dockerfile';

/** Runs a command of the engine's client, as `run` does. */
export const docker = async (...words: readonly string[]): Promise<string> => (await run('docker', words)).trim();

/** Runs the command line; again if a busy server took longer than a call may. */
export async function cli(env: NodeJS.ProcessEnv, command: string): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run(process.execPath, [...fromSources('cli'), ...command.split(' ')], { env });
    } catch (error) {
      if (attempt === 10 || !/ is unavailable: /.test((error as { stderr: string }).stderr)) throw error;
    }
  }
}

/** Starts a container, which is removed when the running test ends, and returns its id. A test that fails shows its log. */
export async function startContainer(...args: readonly string[]): Promise<string> {
  const container = await docker('run', '--detach', `--label=${OWNER}=${PROCESS}`, ...args);
  onTestFinished(async ({ task }) => {
    const log = () => run('sh', ['-c', `docker logs --tail=10 ${container} 2>&1`]).catch(String);
    if (task.result?.state === 'fail') console.error(await log());
    await docker('rm', '--force', '--volumes', container);
  });
  return container;
}

/** The address of this machine that leads to a port of a container: `127.0.0.1:1234`. */
export const addressOf = (container: string, port: number): Promise<string> => docker('port', container, `${port}/tcp`);

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

/** Builds the image with these build arguments, and returns its id. */
export async function buildImage(given: Readonly<Record<string, string>>): Promise<string> {
  const options = Object.entries(given).map(([name, value]) => `--build-arg=${name}=${value}`);
  return docker('build', '--quiet', `--file=${ROOT}/${DOCKERFILE}`, '--tag=animal-store:test', ...options, ROOT);
}

/** The folder of the alerts and the dashboard. */
export const MONITORING: URL = new URL('../monitoring/', import.meta.url);

/** Runs Prometheus' tool in that folder. */
export function promtool(...words: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', words, { cwd: fileURLToPath(MONITORING), encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
}

/** The metrics of a service that has created and listed a pet. */
export async function readMetrics(): Promise<string> {
  await using service = await startService();
  const { call, add } = callsTo(service.url);
  await add('Rex');
  await call('/v1/pets');
  return await (await call('/metrics')).text();
}

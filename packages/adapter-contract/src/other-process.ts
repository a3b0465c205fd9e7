import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Ports, unavailable } from '@animal-store/domain/ports';
import { onTestFinished } from 'vitest';
import { failureOf } from './calls.ts';
import type { Call, End } from './child.ts';
import { CALL_LIMIT, CLOSE_LIMIT, PATIENCE } from './limits.ts';
import type { ExportedFunction } from './storage-under-test.ts';

const programOf = (name: 'child' | 'timers') =>
  fileURLToPath(new URL(`./${name}${extname(import.meta.url)}`, import.meta.url));

/** The ports of a storage that another process opens, and the memory of that process. */
export interface OtherProcess extends Ports {
  readonly memory: {
    /** How many of the arguments and results of all calls are still in memory. */
    kept(): Promise<number>;
  };

  /** Closes the storage, and resolves once the process has ended. */
  end(): Promise<void>;
}

/** Opens a storage in another process, which ends with the running test. */
export async function openInAnotherProcess({ flags = [], ...opening }: ExportedFunction): Promise<OtherProcess> {
  const execArgv = [...flags, '--expose-gc'];
  const child = fork(programOf('child'), [JSON.stringify(opening)], { execArgv, serialization: 'advanced' });
  const ended = once(child, 'exit');
  async function end(): Promise<void> {
    if (child.connected) child.disconnect();
    await ended;
  }
  onTestFinished(end);
  const opened = Promise.race([
    once(child, 'message'),
    ended.then(([code]) => Promise.reject(new Error(`the other process ended with code ${code}`))),
  ]);
  await opened;

  const waiting = new Map<number, (end: End) => void>();
  child.on('message', (end: End) => waiting.get(end.id)?.(end));
  const call =
    (port: Call['port'], method: string) =>
    async (...given: unknown[]) => {
      const id = waiting.size + 1;
      const { promise, resolve } = Promise.withResolvers<End>();
      waiting.set(id, resolve);
      child.send({ id, port, method, given } satisfies Call);
      const { result, error, isUnavailable } = await promise;
      const failure = new Error(`in the other process: ${error}`);
      if (error !== undefined) throw isUnavailable ? unavailable(failure) : failure;
      return result;
    };
  const portOf = (port: Call['port']) => new Proxy({}, { get: (_, method) => call(port, String(method)) });
  return { pets: portOf('pets'), keys: portOf('keys'), memory: portOf('memory'), end } as OtherProcess;
}

/**
 * Runs a process that creates a pet and closes its storage. Returns the pet's name, or the code of the error. Throws if the
 * process ends with another code than 0, or takes longer than a call and `close`.
 */
export async function createInAnotherProcess({ flags, ...opening }: ExportedFunction, name: string): Promise<string> {
  const words = [...(flags ?? []), programOf('child'), JSON.stringify(opening), name];
  const ended = promisify(execFile)(process.execPath, words);
  const { child } = ended;
  const opened = new Promise((resolve) => child.stdout?.once('data', resolve));
  await Promise.race([opened, ended.catch(() => {})]);
  const failure = await failureOf(() => ended, CALL_LIMIT + CLOSE_LIMIT);
  child.kill('SIGKILL');
  if (failure !== null) throw new Error(`the other process ended with code ${child.exitCode}: ${failure.message}`);
  return (await ended).stdout.trim().split('\n').at(-1) ?? '';
}

/** Where each timer was set that goes on after the last of ten storages has closed: the stacks. */
export async function timersInAnotherProcess({ flags = [], ...opening }: ExportedFunction): Promise<readonly string[]> {
  const words = [...flags, programOf('timers'), JSON.stringify(opening)];
  return JSON.parse((await promisify(execFile)(process.execPath, words, { timeout: PATIENCE })).stdout);
}

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Ports, unavailable } from '@animal-store/domain/ports';
import { onTestFinished } from 'vitest';
import { failureOf } from './calls.ts';
import type { Call, End, Task } from './child.ts';
import { CALL_LIMIT, CLOSE_LIMIT } from './limits.ts';
import type { ExportedFunction } from './storage-under-test.ts';

const PROGRAM = fileURLToPath(new URL(`./child${extname(import.meta.url)}`, import.meta.url));

/** The ports of a storage that another process opens, and the memory of that process. */
export interface OtherProcess extends Ports {
  readonly memory: {
    /** How many of the arguments and results of all calls are still in memory. */
    kept(): Promise<number>;
  };

  /** Closes the storage, and resolves once the process has ended. */
  end(): Promise<void>;
}

/** Starts a process, which ends with the running test, and waits for its first message. */
async function start({ flags = [], ...opening }: ExportedFunction, task: Task) {
  const execArgv = [...flags, '--expose-gc'];
  const child = fork(PROGRAM, [JSON.stringify(opening), task], { execArgv, serialization: 'advanced' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const messages: unknown[] = [];
  child.on('message', (message) => messages.push(message));
  // All messages come before it is disconnected.
  const ended = Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  await Promise.race([once(child, 'message'), ended]);
  return { child, ended, messages };
}

/** Opens a storage in another process, which ends with the running test. */
export async function openInAnotherProcess(opening: ExportedFunction): Promise<OtherProcess> {
  const { child, ended } = await start(opening, 'serve');
  if (child.exitCode !== null) throw new Error(`the other process ended with code ${child.exitCode}`);
  async function end(): Promise<void> {
    if (child.connected) child.disconnect();
    await ended;
  }
  onTestFinished(end);

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
 * Runs a task in another process, and returns its last message. Throws if the process ends with another code than 0, or, after
 * its first message, takes longer than a call and `close`.
 */
export async function runInAnotherProcess(opening: ExportedFunction, task: 'create' | 'leave'): Promise<unknown> {
  const { child, ended, messages } = await start(opening, task);
  await failureOf(() => ended, CALL_LIMIT + CLOSE_LIMIT);
  const { exitCode } = child;
  if (exitCode !== 0) throw new Error(`the other process ended with code ${exitCode} after "${messages.join(', ')}"`);
  return messages.at(-1);
}

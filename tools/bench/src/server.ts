import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { type Api, animalStoreApi } from './apis.ts';
import { onServerCore } from './cores.ts';

/** The key that every server of a run accepts. */
const KEY = 'the-key-of-the-benchmark';

/** A server that listens, in a process of its own on the server's core. */
export interface Server {
  readonly name: string;
  readonly url: string;
  readonly api: Api;
  readonly headers: Readonly<Record<string, string>>;
  /** CPU time that its threads have used, in user and kernel mode, in seconds; NaN without /proc. */
  cpuSeconds(): number;
  /** Resident memory in bytes; NaN without /proc. */
  residentBytes(): number;
  stop(): Promise<void>;
}

export interface ServerOptions {
  readonly name: string;
  readonly command: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
  readonly api?: Api;
}

const START_TIMEOUT = 30_000;
const STOP_TIMEOUT = 5_000;

/** @throws Error If the program prints no URL on its standard output within 30 seconds. */
export async function startServer({ name, command, environment, api }: ServerOptions): Promise<Server> {
  const [program, ...args] = onServerCore(command) as [string, ...string[]];
  const child = spawn(program, args, {
    env: { ...process.env, ...environment, PORT: '0', API_KEYS: KEY },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    const url = await listeningUrl(child);
    return {
      name,
      url,
      api: api ?? animalStoreApi,
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      cpuSeconds: () => cpuSeconds(child.pid),
      residentBytes: () => residentBytes(child.pid),
      stop: () => stop(child),
    };
  } catch (error) {
    await stop(child);
    throw new Error(`${name} did not start: ${(error as Error).message}`);
  }
}

function listeningUrl(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let errors = '';
  child.stderr?.on('data', (chunk) => {
    errors = (errors + chunk).slice(-2_000);
  });
  const timer = setTimeout(
    () => reject(new Error(`no URL within ${START_TIMEOUT / 1_000} s. ${errors}`)),
    START_TIMEOUT,
  );
  child.on('error', reject);
  child.on('exit', (code) => reject(new Error(`it ended with ${code}. ${errors}`)));
  child.stdout?.on('data', (chunk: Buffer) => {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(chunk.toString())?.[0];
    if (url === undefined) return;
    // The log is read and dropped.
    child.stdout?.removeAllListeners('data').resume();
    resolve(url);
  });
  return promise.finally(() => clearTimeout(timer));
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = once(child, 'exit');
  child.kill();
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT);
  await exited;
  clearTimeout(timer);
}

/**
 * The time on a CPU of each thread, from /proc/pid/task/tid/schedstat, whose first field is in nanoseconds. NaN if there is
 * no such process here.
 */
export function cpuSeconds(pid: number | undefined): number {
  const threads = readThreads(pid);
  const nanoseconds = threads.map((thread) => Number.parseInt(readProc(pid, `task/${thread}/schedstat`) || '0', 10));
  return threads.length === 0 ? Number.NaN : nanoseconds.reduce((sum, own) => sum + own, 0) / 1e9;
}

function readThreads(pid: number | undefined): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** proc_pid_status(5), VmRSS. */
function residentBytes(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readProc(pid, 'status'))?.[1]) * 1_024;
}

function readProc(pid: number | undefined, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

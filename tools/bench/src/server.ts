import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type Api, animalStoreApi } from './workloads.ts';

/** The key that every server of a run accepts. */
const KEY = 'the-key-of-the-benchmark';

/** A server that listens, in a process of its own. */
export interface Server {
  readonly name: string;
  readonly url: string;
  readonly api: Api;
  readonly headers: Readonly<Record<string, string>>;
  /** CPU time that its threads have used, in user and kernel mode, in seconds; NaN without /proc. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

/** Something to measure. */
export interface Contender {
  readonly name: string;
  /** Why it can't be started here, or null; absent: it can. */
  readonly missing?: () => string | null;
  /** @param environment Names the storage, which no other contender uses. */
  start(environment: NodeJS.ProcessEnv): Promise<Server>;
}

/** Whether each server gets the first core for itself, and the load the others (Linux, two cores or more). */
const PINNED: boolean = availableParallelism() > 1 && spawnSync('taskset', ['--version']).error === undefined;

/** Moves this process, which makes the load, away from the servers' core. */
export function moveToLoadCores(): void {
  if (!PINNED) return;
  const others = `1-${availableParallelism() - 1}`;
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', others, String(process.pid)], { stdio: 'ignore' });
}

/** The longest use of {@link keepAwake}, in milliseconds: a benchmark that is killed leaves no process behind. */
const AWAKE_MAX = 60_000;

/**
 * Keeps the servers' core awake with a process that runs only when no other does: between the requests of one connection the
 * core would sleep, and the time that it takes to wake up differs from run to run.
 *
 * @returns Ends the process.
 */
export function keepAwake(): () => void {
  if (!PINNED) return () => {};
  const spin = `for (const end = Date.now() + ${AWAKE_MAX}; Date.now() < end; );`;
  const command = ['--cpu-list', '0', 'chrt', '--idle', '0', process.execPath, '--eval', spin];
  const child = spawn('taskset', command, { stdio: 'ignore' });
  return () => void child.kill();
}

/** The contender that a command starts. It prints its URL on its standard output; `start` rejects if it ends before. */
export function program(
  name: string,
  command: readonly string[],
  { environment: own = {}, api = animalStoreApi }: { environment?: NodeJS.ProcessEnv; api?: Api } = {},
): Contender {
  const [file, ...args] = PINNED ? ['taskset', '--cpu-list', '0', ...command] : command;
  async function start(environment: NodeJS.ProcessEnv): Promise<Server> {
    const child = spawn(file as string, args, {
      env: { ...process.env, ...environment, ...own, PORT: '0', API_KEYS: KEY },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let lastWords = '';
    child.stderr.on('data', (chunk: Buffer) => {
      process.stderr.write(chunk);
      lastWords = String(chunk);
    });
    const exited = once(child, 'close');
    const url = await new Promise<string>((resolve, reject) => {
      exited.then(([code]) => reject(new Error(`${name} ended with ${code} before it listened: ${lastWords}`)), reject);
      child.stdout.on('data', (chunk: Buffer) => {
        const printed = /http:\/\/127\.0\.0\.1:\d+/.exec(chunk.toString())?.[0];
        if (printed === undefined) return;
        // The log is read and dropped.
        child.stdout.removeAllListeners('data').resume();
        resolve(printed);
      });
    });
    return {
      name,
      url,
      api,
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      cpuSeconds: () => cpuSeconds(child.pid),
      async stop() {
        child.kill();
        await exited;
      },
    };
  }
  return { name, start };
}

/** Hundredths of a second, in which proc(5) counts the time on a CPU. */
const TICKS_PER_SECOND = 100;

/** The time on a CPU of a process, from the fields 14 and 15 of /proc/pid/stat; NaN without /proc. */
function cpuSeconds(pid: number | undefined): number {
  if (!existsSync('/proc/self/stat')) return Number.NaN;
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user, system] = fields.split(' ').slice(11, 13).map(Number) as [number, number];
  return (user + system) / TICKS_PER_SECOND;
}

const CLEAR_LINE = '\r\x1b[2K';

/** Shows the progress; each text replaces the one before. */
export function show(text: string): void {
  const { stderr } = process;
  if (stderr.isTTY) stderr.write(CLEAR_LINE + text.slice(0, stderr.columns - 1));
}

// Imports almost nothing: an entry point imports it first, before everything that takes time to load.
import { setImmediate } from 'node:timers/promises';
import { ConfigurationError } from './configuration-error.ts';

/** The oldest Node.js that applications run on. */
const NODE = '24.16';

/** The exit code of a start that failed. Its supervisor tries again: a disk, an address or a database may be there later. */
const EXIT_MISCONFIGURED = 2;

/** How long a process may live after it has written a configuration error, in milliseconds. */
const MISCONFIGURED_TIMEOUT = 1_000;

/** Signals of one kind within this time are one event, in milliseconds. */
const SAME_EVENT = 500;

type Stop = (signal: NodeJS.Signals) => void;

/** An application: the exports of its module. */
export interface Application {
  /** May throw a ConfigurationError, also while it serves; then it is closing its storage, so that the process can end. */
  readonly start: (run: Run) => Promise<void>;
  /** For `--version`. */
  readonly version: string;
  /** The variables of the environment that it reads, for `--help`. */
  readonly variables: Readonly<Record<string, { readonly fallback: string; readonly rule: string }>>;
}

/** The process of an application. */
export interface Run {
  /** From now on the first signal calls `stop`, which ends what keeps the process alive. */
  onStop(stop: Stop): void;
  /** Writes one line to standard error. */
  writeMessage(message: string): void;
  /** Kills the process by SIGKILL unless it ends within this time, in milliseconds: what a stop waits for may hang. */
  endWithin(time: number): void;
}

/**
 * Runs an application whose settings are environment variables. Its arguments are `--help` and `--version`. Signals are handled
 * before it is loaded, because the first process of a container gets no signal without a handler:
 *
 * | signal          | before `onStop` | the first after it | later                                                       |
 * | --------------- | --------------- | ------------------ | ----------------------------------------------------------- |
 * | SIGINT, SIGTERM | exit            | calls `stop`       | ends the process, unless it is the first of a container;    |
 * |                 |                 |                    | ignored within 0.5 s if it is of the first signal's kind    |
 * | SIGHUP          | exit            | calls `stop`       | ignored: the terminal is gone, and the stop goes on         |
 *
 * Otherwise the process ends when nothing is left to do. Its code is 0; after a configuration error 2. This
 * error is one line on standard error: then the process ends within 1 s, or by SIGKILL after the time of `endWithin`.
 *
 * @param name Begins each message on standard error.
 * @param description A sentence for `--help`.
 */
export async function runApplication(
  name: string,
  description: string,
  load: () => Promise<Application>,
): Promise<void> {
  if (!requireNode(name)) return;
  let stop: Stop = () => process.exit();
  onFirstSignal(['SIGINT', 'SIGTERM', 'SIGHUP'], (signal) => stop(signal));
  process.on('SIGHUP', ignore);
  // A write fails if nobody reads standard error any more; that must not end the process.
  process.stderr.on('error', ignore);

  let hasTimeLimit = false;
  const run: Run = {
    onStop: (given) => {
      stop = given;
    },
    writeMessage: (message) => void process.stderr.write(`${name}: ${message}\n`),
    endWithin: (time) => {
      hasTimeLimit = true;
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), time).unref();
    },
  };

  try {
    const argument = process.argv[2];
    const { start, version, variables } = await load();
    if (argument === '--version') return void process.stdout.write(`${name} ${version}\n`);
    if (argument === '--help') return void process.stdout.write(helpOf(name, description, variables));
    if (argument !== undefined) {
      throw new ConfigurationError('unexpected argument: settings are environment variables');
    }
    // Node delivers the signals that came while modules were loading.
    await setImmediate();
    await start(run);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.exitCode = EXIT_MISCONFIGURED;
    process.stderr.write(`${name}: ${error.message}\n`, () => {
      // Unref'd: it ends only a process that something keeps alive.
      if (!hasTimeLimit) setTimeout(() => process.exit(), MISCONFIGURED_TIMEOUT).unref();
    });
  }
}

/**
 * Whether this Node.js is new enough. If not, one line on standard error says so, and the process will end with code 2.
 *
 * @param name Begins the line.
 */
export function requireNode(name: string): boolean {
  const isSupported = process.versions.node.localeCompare(NODE, 'en', { numeric: true }) >= 0;
  if (!isSupported) {
    process.stderr.write(`${name}: needs Node.js ${NODE} or newer, this is ${process.version}\n`);
    process.exitCode = EXIT_MISCONFIGURED;
  }
  return isSupported;
}

/**
 * Calls a function at the first of these signals. Each then has its default action, except for one of the same kind within
 * 0.5 s: a terminal sends Ctrl-C to npm and to its program, and npm forwards it to the program.
 *
 * @returns Ends the wait for the first signal.
 */
export function onFirstSignal(signals: readonly NodeJS.Signals[], run: (signal: NodeJS.Signals) => void): () => void {
  function onSignal(signal: NodeJS.Signals): void {
    process.on(signal, ignore);
    setTimeout(() => process.off(signal, ignore), SAME_EVENT).unref();
    endWait();
    run(signal);
  }
  function endWait(): void {
    for (const signal of signals) process.off(signal, onSignal);
  }
  for (const signal of signals) process.on(signal, onSignal);
  return endWait;
}

function ignore(): void {}

function helpOf(name: string, description: string, variables: Application['variables']): string {
  const lines = Object.entries(variables).map(
    ([variable, { fallback, rule }]) => `  ${variable}${fallback && ` (${fallback})`}: ${rule}\n`,
  );
  const settings = 'Settings are environment variables, with these defaults:';
  return `Usage: ${name} [--help | --version]\n\n${description}\n\n${settings}\n${lines.join('')}`;
}

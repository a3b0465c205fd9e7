// Imports almost nothing: an entry point imports it first, before everything that takes time to load.
import { setImmediate } from 'node:timers/promises';
import { ConfigurationError, quoteSetting } from './configuration-error.ts';

/** The exit code of a configuration error: restarting does not help. */
const EXIT_MISCONFIGURED = 2;

/** The oldest Node.js that applications run on. */
const NODE = [24, 16] as const;

/**
 * Whether this Node.js is new enough. If not, one line on standard error says so, and the process will end with code 2.
 *
 * @param name Begins the line.
 */
export function requireNode(name: string): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > NODE[0] || (major === NODE[0] && minor >= NODE[1])) return true;
  process.stderr.write(`${name}: needs Node.js ${NODE.join('.')} or newer, this is ${process.version}\n`);
  process.exitCode = EXIT_MISCONFIGURED;
  return false;
}

/** How long a process may live after a configuration error, in milliseconds: an open storage would keep it alive. */
const MISCONFIGURED_TIMEOUT = 1_000;

/** Signals of one kind within this time are one event, in milliseconds. */
const SAME_EVENT = 500;

type Stop = (signal: NodeJS.Signals) => void;

/** An application: the exports of its module. */
export interface Application {
  /**
   * If it throws a ConfigurationError, also after it has begun to serve, the process ends with code 2: after 1 s at the latest,
   * or within the time that it has given to `endWithin`. So it closes its storage first.
   */
  readonly start: (run: Run) => Promise<void>;
  /** For `--version`. */
  readonly version: string;
  /** The variables of the environment that it reads, for `--help`. */
  readonly variables: Readonly<Record<string, { readonly fallback: string; readonly rule: string }>>;
}

/** The process of an application. */
export interface Run {
  /**
   * From now on the first signal calls `stop`. A second SIGINT or SIGTERM ends the process at once; one of the same kind
   * within 0.5 s counts as the first.
   *
   * Until it is called, a signal ends the process with code 0: there is nothing to finish.
   */
  onStop(stop: Stop): void;
  /** Writes one line to standard error. */
  writeMessage(message: string): void;
  /** Kills the process unless it ends within this time, in milliseconds: what a stop waits for may hang. */
  endWithin(time: number): void;
}

/**
 * Runs an application whose settings are environment variables, until it is stopped. Its arguments are `--help` and
 * `--version`. A configuration error is one line on standard error, and the process ends with 2.
 *
 * SIGINT, SIGTERM and SIGHUP are handled before the application is loaded, which takes a while: the first process of a
 * container does not get a signal without a handler.
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
  // SIGHUP says that a terminal is gone: a stop that has begun goes on.
  process.on('SIGHUP', ignore);
  const onStop = (given: Stop) => {
    stop = given;
  };
  const lineOf = (message: string) => `${name}: ${message}\n`;
  const writeMessage = (message: string) => void process.stderr.write(lineOf(message));
  let hasTimeLimit = false;
  const endWithin = (time: number) => {
    hasTimeLimit = true;
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), time).unref();
  };
  // A reader of standard error that is gone must not end the process.
  process.stderr.on('error', ignore);
  try {
    const [argument] = process.argv.slice(2);
    if (argument !== undefined && !/^--(?:help|version)$/.test(argument)) {
      const rule = 'settings are environment variables';
      throw new ConfigurationError(`unexpected argument ${quoteSetting(argument)}: ${rule}`);
    }
    const { start, version, variables } = await load();
    if (argument === '--version') return void process.stdout.write(`${name} ${version}\n`);
    if (argument === '--help') return void process.stdout.write(helpOf(name, description, variables));
    // Node delivers the signals that came while modules were loading.
    await setImmediate();
    await start({ onStop, writeMessage, endWithin });
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.exitCode = EXIT_MISCONFIGURED;
    process.stderr.write(lineOf(error.message), () => {
      if (!hasTimeLimit) setTimeout(() => process.exit(), MISCONFIGURED_TIMEOUT).unref();
    });
  }
}

/**
 * Calls a function at the first of these signals. Each then has its default action: a second SIGINT or SIGTERM ends the
 * process at once. One of the same kind within 0.5 s counts as the first: a terminal sends Ctrl-C to npm and to its program,
 * and npm forwards it to the program.
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

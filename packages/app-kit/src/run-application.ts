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

/** Signals of one kind within this time are one event, in milliseconds. */
const SAME_EVENT = 500;

type Stop = (signal: NodeJS.Signals) => void;

/** Starts an application. If it throws a ConfigurationError, the process ends with code 2 when there is nothing left to do. */
type Start = (run: Run) => Promise<void>;

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
export async function runApplication(name: string, description: string, load: () => Promise<Start>): Promise<void> {
  if (!requireNode(name)) return;
  const onStop = handleSignals();
  const writeMessage = (message: string) => void process.stderr.write(`${name}: ${message}\n`);
  // A reader of standard error that is gone must not end the process.
  process.stderr.on('error', () => {});
  try {
    const [argument] = process.argv.slice(2);
    if (argument !== undefined) return void process.stdout.write(await textFor(argument, name, description));
    const start = await load();
    // Node delivers the signals that came while modules were loading.
    await setImmediate();
    await start({ onStop, writeMessage });
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    writeMessage(error.message);
    process.exitCode = EXIT_MISCONFIGURED;
  }
}

function handleSignals(): Run['onStop'] {
  let stop: Stop = () => process.exit();
  let isStopping = false;
  const off: Record<string, () => void> = {};
  function onSignal(signal: NodeJS.Signals): void {
    for (const [name, end] of Object.entries(off)) if (name !== signal) end();
    // SIGHUP says that a terminal is gone: a stop that has begun goes on.
    if (!isStopping) stop(signal);
    isStopping = true;
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) off[signal] = onFirstSignal(signal, () => onSignal(signal));
  process.on('SIGHUP', onSignal);
  return (given) => {
    stop = given;
  };
}

/**
 * Calls a function at the first signal of a kind. The second one ends the process at once, unless it comes within 0.5 s: a
 * terminal sends Ctrl-C to npm and to its program, and npm forwards it to the program.
 *
 * @returns Gives the signal its default action again, unless the signal has come.
 */
export function onFirstSignal(signal: NodeJS.Signals, run: () => void): () => void {
  const off = () => void process.off(signal, onSignal);
  let isFirst = true;
  function onSignal(): void {
    if (!isFirst) return;
    isFirst = false;
    setTimeout(off, SAME_EVENT).unref();
    run();
  }
  process.on(signal, onSignal);
  return () => {
    if (isFirst) off();
  };
}

async function textFor(argument: string, name: string, description: string): Promise<string> {
  if (argument === '--version') {
    const { readVersion, versionText } = await import('./version.ts');
    return `${name} ${versionText(readVersion(process.env))}\n`;
  }
  const text = `Usage: ${name} [--help | --version]\n\n${description}\n\nSettings are environment variables: see docs/settings.md.\n`;
  if (argument === '--help') return text;
  throw new ConfigurationError(`unexpected argument ${quoteSetting(argument)}: settings are environment variables`);
}

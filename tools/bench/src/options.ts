import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** A short run, to see where one stands. */
  readonly quick: boolean;
  /** Names of what to measure; empty for everything. */
  readonly only: readonly string[];
  /** Numbers of connections; null for those that the suite chooses. */
  readonly connections: readonly number[] | null;
  /** The folder for JSON files. */
  readonly out: string;
  /** What follows the name of the suite. */
  readonly rest: readonly string[];
}

/** @throws Error If an argument is unknown, or not what it must be. */
export function readOptions(args: readonly string[]): BenchOptions & { readonly suite: string } {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      connections: { type: 'string' },
      out: { type: 'string', default: fileURLToPath(new URL('../results', import.meta.url)) },
    },
  });
  const [suite = 'peers', ...rest] = positionals;
  return { ...values, suite, rest, connections: readConnections(values.connections) };
}

function readConnections(text: string | undefined): readonly number[] | null {
  if (text === undefined) return null;
  const counts = text.split(',').map(Number);
  if (counts.every((count) => Number.isInteger(count) && count > 0 && count <= 1_000)) return counts;
  throw new Error(`--connections must be integers from 1 to 1000, comma-separated, was "${text}"`);
}

/** The names in `all` that a run is about. */
export function chosen<T extends string>(all: readonly T[], { only }: BenchOptions): readonly T[] {
  const named = all.filter((name) => only.includes(name));
  return named.length > 0 ? named : all;
}

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, platform } from 'node:os';
import { dirname } from 'node:path';
import { PINNED } from './cores.ts';
import type { Sample } from './load.ts';

/** One server under one workload: a sample for each round. */
export interface Measurement {
  readonly group: string;
  readonly workload: string;
  readonly connections: number;
  readonly server: string;
  readonly samples: readonly Sample[];
}

const IDENTITY = ['group', 'workload', 'connections', 'server'] as const;

/** Keeps what was measured in a JSON file. What is measured again replaces what the file held about it. */
export function saveMeasurements(file: string, added: readonly Measurement[]): void {
  const same = (one: Measurement, other: Measurement) => IDENTITY.every((key) => one[key] === other[key]);
  const kept = readMeasurements(file).filter((old) => !added.some((fresh) => same(old, fresh)));
  saveJson(file, { measurements: [...kept, ...added] });
}

/** What a file holds; nothing if there is none. */
export function readMeasurements(file: string): readonly Measurement[] {
  return readJson<{ measurements: readonly Measurement[] }>(file)?.measurements ?? [];
}

/** What `saveJson` wrote, or null if there is no such file. NaN has become null. */
export function readJson<T>(file: string): T | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Writes a JSON file that says where its numbers were measured. */
export function saveJson(file: string, value: object): void {
  mkdirSync(dirname(file), { recursive: true });
  // Four digits say more than the measurements do.
  const rounded = (_key: string, part: unknown) => (typeof part === 'number' ? Number(part.toPrecision(4)) : part);
  writeFileSync(file, `${JSON.stringify({ machine: machine(), ...value }, rounded, 1)}\n`);
}

function machine() {
  return {
    processor: cpus()[0]?.model,
    cores: availableParallelism(),
    serverHasItsOwnCore: PINNED,
    platform: platform(),
    node: process.version,
    date: new Date().toISOString().slice(0, 10),
  };
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchOptions } from '../options.ts';
import { animalStore, npmStart, peer, preparePeers } from '../peers.ts';
import type { Progress } from '../progress.ts';
import { table } from '../report.ts';
import { saveJson } from '../results.ts';
import { startServer } from '../server.ts';
import { median } from '../statistics.ts';

const ROUNDS = 7;
const QUICK_ROUNDS = 3;
/** Time in which a server becomes idle, in milliseconds. */
const SETTLE = 1_000;
const COLD_ROUNDS = 3;

const NPM_START = 'Animal Store, npm start';

const COMMANDS: Readonly<Record<string, () => readonly string[]>> = {
  'Animal Store': animalStore,
  [NPM_START]: npmStart,
  'node:http': () => peer('node-http'),
  Fastify: () => peer('fastify'),
  Hono: () => peer('hono'),
  Express: () => peer('express'),
};

interface Start {
  /** From the start of the process to the first response, in milliseconds. */
  readonly milliseconds: number;
  /** Resident memory a second later, in bytes. */
  readonly residentBytes: number;
}

/** Measures the time from the start of a process to its first response, and its memory while it is idle. */
export async function run({ quick, out }: BenchOptions, progress: Progress): Promise<void> {
  preparePeers();
  const warm: Record<string, Start[]> = {};
  const cold: Record<string, Start[]> = {};
  for (let round = 1; round <= (quick ? QUICK_ROUNDS : ROUNDS); round += 1) {
    for (const [name, command] of Object.entries(COMMANDS)) {
      progress.show(`start ${round}: ${name}`);
      warm[name] ??= [];
      warm[name].push(await start(name, command()));
    }
  }
  for (let round = 1; round <= (quick ? 0 : COLD_ROUNDS); round += 1) {
    for (const [name, command] of Object.entries(COMMANDS)) {
      if (!dropPageCache()) {
        progress.warn('NOT MEASURED cold starts: only root may drop the page cache, on Linux');
        break;
      }
      progress.show(`cold start ${round}: ${name}`);
      cold[name] ??= [];
      cold[name].push(await start(name, command()));
    }
  }
  progress.clear();
  const rows = Object.entries(warm).map(([name, starts]) => [
    name,
    middle(starts, 'milliseconds').toFixed(0),
    cold[name] === undefined ? '' : middle(cold[name], 'milliseconds').toFixed(0),
    // npm is the parent of the server's parent.
    name === NPM_START ? '' : (middle(starts, 'residentBytes') / 2 ** 20).toFixed(0),
  ]);
  console.log(table([['', 'first response ms', 'cold ms', 'idle MB'], ...rows]));
  saveJson(join(out, 'start.json'), { warm, cold });
}

const middle = (starts: readonly Start[], key: keyof Start) => median(starts.map((each) => each[key]));

async function start(name: string, command: readonly string[]): Promise<Start> {
  const begin = performance.now();
  const server = await startServer({ name, command, environment: { STORAGE: 'memory' } });
  try {
    const response = await fetch(`${server.url}/v1/pets`, { headers: server.headers });
    if (!response.ok) throw new Error(`${name}: the first response was ${response.status}`);
    await response.arrayBuffer();
    const milliseconds = performance.now() - begin;
    await pause(SETTLE);
    return { milliseconds, residentBytes: server.residentBytes() };
  } finally {
    await server.stop();
  }
}

/** Makes the system read files from the disk again. */
function dropPageCache(): boolean {
  try {
    writeFileSync('/proc/sys/vm/drop_caches', '1');
    return true;
  } catch {
    return false;
  }
}

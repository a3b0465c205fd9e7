import { join } from 'node:path';
import { fill } from '../load.ts';
import type { BenchOptions } from '../options.ts';
import { animalStore, peer, preparePeers } from '../peers.ts';
import type { Progress } from '../progress.ts';
import { table } from '../report.ts';
import { saveJson } from '../results.ts';
import { type Server, startServer } from '../server.ts';

const PETS = 1_000_000;
const QUICK_PETS = 100_000;
const REPORT_HEAP = `--import=${new URL('../report-heap.ts', import.meta.url).href}`;

/** Measures how many bytes of memory a pet takes, beside a Map of objects. */
export async function run({ quick, out }: BenchOptions, progress: Progress): Promise<void> {
  preparePeers();
  const pets = quick ? QUICK_PETS : PETS;
  const commands = { 'Animal Store, in memory': animalStore(), 'Map of objects': peer('map') };
  const bytes: Record<string, number> = {};
  for (const [name, command] of Object.entries(commands)) {
    progress.show(`${name}: ${pets.toLocaleString('en')} pets`);
    const environment = { STORAGE: 'memory', NODE_OPTIONS: REPORT_HEAP };
    const server = await startServer({ name, command, environment });
    try {
      bytes[name] = await bytesPerPet(server, pets);
    } finally {
      await server.stop();
    }
  }
  progress.clear();
  const rows = Object.entries(bytes).map(([name, count]) => [name, count.toFixed(0)]);
  console.log(table([[`${pets.toLocaleString('en')} pets`, 'bytes for a pet'], ...rows]));
  saveJson(join(out, 'heap.json'), { pets, bytes });
}

/** The first thousand pets warm the server up: what they leave behind belongs to no pet. */
async function bytesPerPet(server: Server, pets: number): Promise<number> {
  await fill(server, 1_000);
  const before = await server.bytesInUse();
  await fill(server, pets);
  return ((await server.bytesInUse()) - before) / pets;
}

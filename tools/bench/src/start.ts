import { setTimeout as pause } from 'node:timers/promises';
import { send } from './catalogue.ts';
import { animalStore, npmStart, preparePeers } from './peers.ts';
import { show } from './server.ts';
import { median } from './statistics.ts';
import { STORAGES } from './storages.ts';
import { table } from './tables.ts';

/** Time in which a server becomes idle, in milliseconds. */
const SETTLE = 1_000;

/** Measures the time from the start of a process to its first response, and its memory while it is idle. */
export async function measureStarts(rounds: number): Promise<void> {
  preparePeers();
  const starts = [animalStore, npmStart, ...STORAGES.memory.peers].map((contender) => {
    return { contender, milliseconds: [] as number[], megabytes: [] as number[] };
  });
  for (let round = 1; round <= rounds; round += 1) {
    for (const { contender, milliseconds, megabytes } of starts) {
      show(`start ${round}: ${contender.name}`);
      const begin = performance.now();
      const server = await contender.start({ STORAGE: 'memory' });
      try {
        await (await send(server, { kind: 'list', limit: 20 })).arrayBuffer();
        milliseconds.push(performance.now() - begin);
        await pause(SETTLE);
        megabytes.push(server.residentBytes() / 2 ** 20);
      } finally {
        await server.stop();
      }
    }
  }
  show('');
  const rows = starts.map(({ contender, milliseconds, megabytes }) => [
    contender.name,
    median(milliseconds).toFixed(0),
    // npm is the parent of the server's parent.
    contender === npmStart ? '' : median(megabytes).toFixed(0),
  ]);
  console.log(table([['', 'first response ms', 'idle MB'], ...rows]));
}

// The program of one scenario, named by its argument, for the tests of the explorer.

import { setTimeout as realTimeout } from 'node:timers';
import { trial } from '../src/trial.ts';
import type { Scenario } from '../src/world.ts';

// The real function, before a fake replaces it.
const startRealTimer = realTimeout.bind(null);

/** How many worlds were built. */
let beginnings = 0;

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'lost update'(world) {
    let count = 0;
    async function add() {
      const before = await world.command('read', () => count);
      await world.command('write', () => {
        count = before + 1;
      });
    }
    world.client('one', [add]);
    world.client('two', [add]);
    world.finally(() => {
      if (count !== 2) throw new Error(`an update was lost: ${count}`);
    });
  },

  'error at any time'(world) {
    let isBroken = false;
    for (const name of 'abcdefgh') world.client(name, [() => world.command('ask', () => null)]);
    world.event('it breaks', {
      may: true,
      can: () => !isBroken,
      run() {
        isBroken = true;
      },
    });
    world.always(() => {
      if (isBroken) throw new Error('it is broken');
    });
  },

  'unhandled rejection'(world) {
    world.client('one', [
      async () => {
        void Promise.reject(new Error('nobody waits for this'));
      },
    ]);
  },

  'outside variable'(world) {
    beginnings += 1;
    const isFirst = beginnings === 1;
    world.always(() => {
      if (isFirst) throw new Error('it is broken in the first run only');
    });
    world.client('one', [async () => {}]);
  },

  'endless run'(world) {
    world.event('again', { can: () => true, run() {} });
  },

  'real timer'(world) {
    world.client('one', [
      async () => {
        startRealTimer(() => {}, 2_000);
      },
    ]);
  },
};

const [, , name = ''] = process.argv;
await trial(name, [], () => SCENARIOS[name] as Scenario);

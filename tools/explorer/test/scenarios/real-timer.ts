import { setTimeout as realTimeout } from 'node:timers';
import { trial } from '../../src/trial.ts';

// The real function, before a fake replaces it.
const startRealTimer = realTimeout.bind(null);

await trial('a real timer', [], () => (world) => {
  world.client('one', [
    async () => {
      startRealTimer(() => {}, 2_000);
    },
  ]);
});

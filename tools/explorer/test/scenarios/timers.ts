import { setTimeout as pause } from 'node:timers/promises';
import { trial } from '../../src/trial.ts';

await trial('timers and clocks', [], () => (world) => {
  let ticks = 0;
  world.client('sleeper', [
    async function sleep() {
      const interval = setInterval(() => {
        ticks += 1;
      }, 100);
      await pause(1_000);
      clearInterval(interval);
      if (performance.now() !== 1_000 || Date.now() !== 1_000) throw new Error(`it is ${performance.now()}`);
      if (ticks < 9 || ticks > 10) throw new Error(`the interval fired ${ticks} times`);
    },
  ]);
});

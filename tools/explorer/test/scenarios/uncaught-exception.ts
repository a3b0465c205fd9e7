import { trial } from '../../src/trial.ts';

await trial('an error that is thrown in a callback', [], () => (world) => {
  world.client('client', [
    async function call() {
      process.nextTick(() => {
        throw new Error('nobody catches this');
      });
    },
  ]);
});

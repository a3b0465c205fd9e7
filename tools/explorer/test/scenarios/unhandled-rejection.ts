import { trial } from '../../src/trial.ts';

await trial('a promise that nothing waits for', [], () => (world) => {
  world.client('caller', [
    async () => {
      void Promise.reject(new Error('nobody waits for this'));
    },
  ]);
});

import { trial } from '../../src/trial.ts';

await trial('a promise that is never settled', [], () => (world) => {
  world.client('waiter', [() => new Promise(() => {})]);
});

import { trial } from '../../src/trial.ts';

// Two processes share a variable, which the explorer does not see.
await trial('a shared variable', [], () => (world) => {
  let hidden = 0;
  const count = async () => {
    hidden += 1;
    if (hidden === 2) await world.command('ask', { run: () => null });
  };
  world.client('one', [count], { process: 'one' });
  world.client('two', [count], { process: 'two' });
});

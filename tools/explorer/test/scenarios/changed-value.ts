import { trial } from '../../src/trial.ts';

await trial('a shared value that is changed instead of replaced', [], () => (world) => {
  const shared = world.shared({ list: [] as number[] });
  world.client('one', [
    () =>
      world.command('add', {
        run: () => {
          shared.list.push(1);
        },
      }),
  ]);
});

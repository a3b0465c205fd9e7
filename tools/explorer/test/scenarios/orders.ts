import { trial } from '../../src/trial.ts';
import type { World } from '../../src/world.ts';

// Three processes that share nothing.

function independent(world: World): void {
  for (const name of ['one', 'two', 'three']) {
    world.client(name, [() => world.command('ask', { run: () => name })], { process: name });
  }
}

await trial('each state once', [], () => independent);
await trial('each order by itself', [], () => independent, { reduces: false });

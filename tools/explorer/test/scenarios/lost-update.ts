import { trial } from '../../src/trial.ts';
import type { World } from '../../src/world.ts';

// Two clients add one: by a read and a write of what was read, and by one command.

const adding = (isAtomic: boolean) => (world: World) => {
  const shared = world.shared({ count: 0 });
  async function add() {
    if (isAtomic) {
      await world.command('add', {
        run: () => {
          shared.count += 1;
        },
      });
      return;
    }
    const count = await world.command('read', { run: () => shared.count });
    await world.command('write', {
      run: () => {
        shared.count = count + 1;
      },
    });
  }
  world.client('one', [add]);
  world.client('two', [add]);
  world.finally(() => {
    if (shared.count !== 2) throw new Error(`an update was lost: ${shared.count}`);
  });
};

await trial('a read and a write', [], () => adding(false));
await trial('one command', [], () => adding(true));

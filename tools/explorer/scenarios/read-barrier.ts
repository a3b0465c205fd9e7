import { trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

// The read barrier of MongoDB: a creation and reads of two clients while another primary is elected. No read misses a creation
// that was acknowledged before the read was called.

const BARRIER = 'packages/adapter-mongodb/src/election/read-barrier.ts';

type Modules = typeof import('../../../packages/adapter-mongodb/src/election/read-barrier.ts');
type PrimaryTerm = import('../../../packages/adapter-mongodb/src/election/primary.ts').PrimaryTerm;

const scenario =
  ({ createReadBarrier }: Modules) =>
  (world: World) => {
    const first = { address: 'a' };
    const shared = {
      /** The present primary, and the one that the driver knows. */
      term: first,
      known: first,
      log: [] as readonly number[],
      /** How much of the log a majority has, as far as the primary knows. */
      committed: 0,
      /** Whether the primary has committed a write of its own term. */
      hasOwn: true,
    };
    const isReached = () => shared.known === shared.term;
    const commit = () => Object.assign(shared, { committed: shared.log.length });
    const barrier = createReadBarrier(
      () => shared.known as PrimaryTerm,
      () => world.command('confirm', commit, () => isReached() && shared.hasOwn),
    );
    const find = () => world.command('find', () => shared.log.slice(0, shared.committed), isReached);

    let acknowledged = false;
    async function create(): Promise<void> {
      await world.command('write', () => Object.assign(shared, { log: [1] }), isReached);
      await world.command('commit', commit, () => shared.hasOwn);
      acknowledged = true;
    }
    async function look(): Promise<void> {
      const isNeeded = acknowledged;
      const found = await barrier(find);
      if (isNeeded && !found.includes(1)) throw new Error('a read missed an acknowledged creation');
    }
    world.client('first', [create, look]);
    world.client('second', [look, look]);
    world.event('elect another primary', {
      may: true,
      can: () => shared.term === first,
      run: () => Object.assign(shared, { term: { address: 'b' }, committed: 0, hasOwn: false }),
    });
    world.event('the new primary commits a write of its term', {
      can: () => !shared.hasOwn,
      run: () => {
        shared.hasOwn = true;
        commit();
      },
    });
    world.event('the driver sees it', {
      can: () => !isReached(),
      run: () => Object.assign(shared, { known: shared.term }),
    });
  };

await trial('1 creation, 3 reads', [BARRIER], scenario, [
  ['the primary is not compared after a read', BARRIER, 'if (currentTerm() === term) return result;', 'return result;'],
  [
    'the primary after a confirmation counts as confirmed',
    BARRIER,
    'confirmedTerm = term;',
    'confirmedTerm = currentTerm();',
  ],
  ['only the first primary is confirmed', BARRIER, 'term === null || term !== confirmedTerm', 'confirmedTerm === null'],
  [
    'a primary counts as confirmed before it is',
    BARRIER,
    'await confirm();',
    'confirmedTerm = term;\n    await confirm();',
  ],
]);

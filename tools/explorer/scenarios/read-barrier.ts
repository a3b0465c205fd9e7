import { createReplicaSet } from '../src/replica-set.ts';
import { type TrialOptions, trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

// The read barrier of MongoDB with batches of reads: a creation and reads of two clients while another primary is elected. No
// read misses a creation that was acknowledged before the read was called.

const BARRIER = 'packages/adapter-mongodb/src/consistency.ts';
const BATCHES = 'packages/adapter-kit/src/batches.ts';

type Modules = typeof import('../../../packages/adapter-mongodb/src/consistency.ts') &
  typeof import('../../../packages/adapter-kit/src/batches.ts');

type PrimaryTerm = import('../../../packages/adapter-mongodb/src/consistency.ts').PrimaryTerm;
type Call = () => Promise<void>;
type Clients = (calls: { create: Call; look: Call }) => Readonly<Record<string, readonly Call[]>>;

const scenario =
  (clients: Clients, parallel = 1) =>
  ({ createReadBarrier, createBatches }: Modules) =>
  (world: World) => {
    const { primary, confirm, read, write, mayElect } = createReplicaSet(world);
    const barrier = createReadBarrier(primary as () => PrimaryTerm, confirm);
    const find = createBatches<number, readonly number[]>(
      async (items) => {
        const found = await barrier(read);
        return items.map(() => found);
      },
      { parallel, maxItems: 10, timeout: 1e6 },
    );

    let acknowledged = false;
    async function create(): Promise<void> {
      await write(1);
      acknowledged = true;
    }
    async function look(): Promise<void> {
      const isNeeded = acknowledged;
      const found = await find(1);
      if (isNeeded && !found.includes(1)) throw new Error('a read missed an acknowledged creation');
    }
    for (const [name, calls] of Object.entries(clients({ create, look }))) world.client(name, calls);
    mayElect();
  };

const small: Clients = ({ create, look }) => ({ first: [create], second: [look, look] });
const concurrent: Clients = ({ create, look }) => ({ first: [create, look], second: [look] });
const large: Clients = ({ create, look }) => ({ first: [create, look], second: [look, look] });
const trialOf = (title: string, clients: Clients, { parallel, ...options }: TrialOptions & { parallel?: number }) =>
  trial<Modules>(title, [BARRIER, BATCHES], scenario(clients, parallel), options);

await trialOf('1 creation, 2 reads', small, {
  errors: [
    ['the primary is not compared after a read', BARRIER, 'if (primary() === term) return result;', 'return result;'],
    ['the primary after a confirmation counts as confirmed', BARRIER, 'confirmed = term;', 'confirmed = primary();'],
    ['only the first primary is confirmed', BARRIER, 'term === null || term !== confirmed', 'confirmed === null'],
  ],
});
await trialOf('1 creation, 3 reads', large, {
  errors: [
    ['a batch does not start the next one', BATCHES, '      schedule();\n', ''],
    [
      'a call joins the batch in flight',
      BATCHES,
      'running += 1;',
      'running += 1;\n    waiting.push = (...calls) => batch.push(...calls);',
    ],
  ],
});
await trialOf('1 creation, 2 reads, two batches at a time', concurrent, {
  parallel: 2,
  errors: [
    [
      'a primary counts as confirmed before it is',
      BARRIER,
      'await confirm();',
      'confirmed = term;\n    await confirm();',
    ],
  ],
  isLarge: true,
});

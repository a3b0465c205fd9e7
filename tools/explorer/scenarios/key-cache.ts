import { trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

// The cache of API keys in two processes on one database. After a revocation no lookup that begins later accepts the key: in
// its own process at once, in another one after 5 s. Queries take less than `slowest` ms; a response may be lost.

const CACHE = 'packages/adapter-kit/src/cached-key-store.ts';
const digest = 'd'.repeat(64);
const id = digest.slice(0, 16);

interface Key {
  readonly id: string;
  readonly digest: string;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
}

interface Store {
  find(digest: string): Promise<Key | null>;
  revoke(id: string, at: number): Promise<Key>;
  recordUse(id: string, at: number): Promise<void>;
}

interface Modules {
  createCachedKeyStore(keys: Store, clock: () => number): Store;
}

interface Sizes {
  /** Lookups of a client of the process that revokes the key, which has another client with one. */
  readonly here: number;
  /** Lookups in the other process, likewise. */
  readonly there: number;
  readonly uses?: number;
  readonly slowest?: number;
}

const scenario =
  ({ here, there, uses = 0, slowest = 2_500 }: Sizes) =>
  ({ createCachedKeyStore }: Modules) =>
  (world: World) => {
    const shared = world.shared({
      key: { id, digest, revokedAt: null, lastUsedAt: null } as Key,
      revokedAt: null as number | null,
      /** When the queries in flight began. */
      queries: [] as readonly string[],
    });
    const revokeKey = (at: number) => {
      shared.key = { ...shared.key, revokedAt: at };
      return shared.key;
    };

    const database = (name: string): Store => ({
      async find() {
        const began = `${name} ${world.now()}`;
        shared.queries = [...shared.queries, began];
        try {
          return await world.command('find', { run: () => shared.key });
        } finally {
          shared.queries = shared.queries.filter((query) => query !== began);
        }
      },
      revoke: (_, at) =>
        world.command('revoke', {
          run: {
            done: () => revokeKey(at),
            'response lost': () => {
              revokeKey(at);
              throw new Error('the response was lost');
            },
          },
        }),
      recordUse: (_, at) =>
        world.command('use', {
          run: () => {
            shared.key = { ...shared.key, lastUsedAt: at };
          },
        }),
    });
    const isFast = () => shared.queries.every((query) => world.now() - Number(query.split(' ')[1]) < slowest);

    const own = createCachedKeyStore(database('own'), () => world.now());
    let isRevoked = false;
    async function look(): Promise<void> {
      const mustBeRejected = isRevoked;
      const key = await own.find(digest);
      if (mustBeRejected && key?.revokedAt === null) {
        throw new Error('a revoked key is accepted in the process that revoked it');
      }
    }
    async function revoke(): Promise<void> {
      await own.revoke(id, 1).catch(() => {});
      isRevoked = true;
      shared.revokedAt = world.now();
    }
    const use = () => own.recordUse(id, 1);
    if (here > 0) {
      world.client('reader', Array(here).fill(look));
      world.client('second reader', [look]);
    }
    world.client('administrator', [revoke, ...Array(uses).fill(use)]);
    if (there === 0) return;

    const other = createCachedKeyStore(database('other'), () => world.now());
    async function lookThere(): Promise<void> {
      const { revokedAt } = shared;
      const mustBeRejected = revokedAt !== null && world.now() - revokedAt >= 5_000;
      const key = await other.find(digest);
      if (mustBeRejected && key?.revokedAt === null) {
        throw new Error('a revoked key is accepted in another process after 5 s');
      }
    }
    world.client('other reader', Array(there).fill(lookThere), { process: 'other' });
    world.client('third reader', [lookThere], { process: 'other' });
    world.pass(2_500, 3, isFast);
  };

const FORGET = 'hits.delete(id);\n    lookups.delete(id);';
const AGE = 'clock() - entry.queriedAt < (entry.key === null ? MISS_TTL : HIT_TTL)';
const CHANGE = 'return await make();\n    } finally {\n      forget(id);';

await trial<Modules>('own revocation, 3 lookups, a use', [CACHE], scenario({ here: 2, there: 0, uses: 1 }), {
  samples: 200,
  errors: [
    ['lookups join a query from before the change', CACHE, FORGET, 'hits.delete(id);'],
    ['a result from before the change is cached', CACHE, 'key !== null && lookups.get(id) === entry', 'key !== null'],
    [
      'records are discarded before the change only',
      CACHE,
      CHANGE,
      'forget(id);\n      return await make();\n    } finally {',
    ],
    [
      'records are kept if the change fails',
      CACHE,
      CHANGE,
      'const made = await make();\n      forget(id);\n      return made;\n    } finally {',
    ],
  ],
});
await trial<Modules>('foreign revocation, 3 lookups, 7.5 s', [CACHE], scenario({ here: 0, there: 2 }), {
  samples: 200,
  errors: [
    ['records are cached for 10 s', CACHE, 'HIT_TTL = 5_000', 'HIT_TTL = 10_000'],
    [
      'the age counts from the response',
      CACHE,
      'entry.key = key;',
      'entry.key = key;\n          entry.queriedAt = clock();',
    ],
    ['a record of exactly 5 s is still used', CACHE, AGE, AGE.replace('<', '<=')],
  ],
});
await trial<Modules>(
  'foreign revocation, queries of up to 7.5 s',
  [CACHE],
  scenario({ here: 0, there: 2, slowest: 7_500 }),
  {
    errors: [['lookups join a query of any age', CACHE, AGE, `entry.key === undefined || ${AGE}`]],
  },
);

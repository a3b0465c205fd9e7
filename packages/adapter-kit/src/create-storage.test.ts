import { closed, type PetArchive, StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import { describe, expect, expectTypeOf, onTestFinished, test, vi } from 'vitest';
import { createBatches } from './batches.ts';
import { BUDGET } from './budget.ts';
import { createStorage, type Driver, type Methods } from './create-storage.ts';
import { type Call, createResource } from './resource.ts';

type Connection = { readonly number: number };

/** A driver whose connections are numbered, and whose methods return what they are given. */
function driver() {
  let opened = 0;
  const method = vi.fn(async (...given: unknown[]) => given as never);
  return {
    open: vi.fn(async (): Promise<Connection> => ({ number: ++opened })),
    close: vi.fn(),
    isLost: () => false,
    ready: method,
    pets: { add: method, find: method, list: method },
    keys: { add: method, find: method, list: method, revoke: method, recordUse: method },
    location: 'db1:27017',
  } satisfies Driver<Connection>;
}

const archive: Methods<PetArchive, Connection> = {
  read: async (...given) => given as never,
  restore: async () => {},
  lastId: async (...given) => given as never,
  skipIds: async (...given) => given as never,
};

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Lets time pass, and the turns of the event loop in which batches begin. */
async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('createStorage', () => {
  test('opens one connection with the first call, and passes it to each method with its deadline', async () => {
    const given = driver();
    const storage = createStorage({ ...given, archive });
    expect(given.open).not.toHaveBeenCalled();
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const call = { connection: { number: 1 }, deadline: performance.now() + BUDGET.call };
    const { pets, keys } = storage;
    for (const [method, ...values] of [
      [pets.add, { name: 'Rex', categoryId: 1n }, { holder: 'zoo', key: 'k', fingerprint: 'f' }],
      [pets.find, 1n],
      [pets.list, { after: 0n, limit: 20 }],
      [keys.add, { id: 'a', createdAt: 1, expiresAt: null, revokedAt: 2, lastUsedAt: null }],
      [keys.find, 'digest'],
      [keys.list, { after: '', limit: 20 }],
      [keys.revoke, 'a', 1],
      [keys.recordUse, 'a', 1],
      [storage.archive?.read, 0n, 1_000],
      [storage.archive?.lastId],
      [storage.archive?.skipIds, 9n],
      [storage.ready],
    ] as const) {
      expect(await (method as (...values: unknown[]) => Promise<unknown>)(...values)).toEqual([call, ...values]);
    }
    expect(given.open).toHaveBeenCalledTimes(1);
  });

  test('has an archive and warnings only if the driver has', () => {
    expect(createStorage(driver())).not.toHaveProperty('archive');
    expect(createStorage(driver())).not.toHaveProperty('warnings');
    const warnings = ['the connection is not encrypted'];
    expect(createStorage({ ...driver(), archive, warnings })).toMatchObject({ warnings, location: 'db1:27017' });
  });

  test('throws the errors of the ports, whatever a method throws, and when', async () => {
    const given = driver();
    const cause = new RangeError('no such column');
    given.ready.mockImplementationOnce(() => {
      throw cause;
    });
    given.pets.find.mockRejectedValueOnce(cause);
    const storage = createStorage(given);
    await expect(storage.ready()).rejects.toMatchObject({ code: 'storage_unavailable', cause });
    await expect(storage.pets.find(1n)).rejects.toMatchObject({ code: 'storage_unavailable', cause });
  });

  /** A storage whose `find` makes a batch of each call, which ends with a promise. */
  function silent(open: () => Promise<Connection>, end: Promise<null>) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const begun: bigint[] = [];
    const find = createBatches<bigint, null>(
      async ([id]) => {
        begun.push(id as bigint);
        return [await end];
      },
      { maxItems: 1 },
    );
    const { pets, ...others } = driver();
    const storage = createStorage({ ...others, open, pets: { ...pets, find: (call, id) => find(id, call) } });
    const call = (...ids: bigint[]) => ids.map((id) => storage.pets.find(id).catch(({ message }) => message));
    return { storage, begun, call };
  }

  test('begins no item of a batch for a caller that has given up, also if it has waited for the opening', async () => {
    const { begun, call } = silent(() => sleep(1_500).then(() => ({ number: 1 })), new Promise(() => {}));
    const calls = call(1n, 2n);
    await pass(1_500);
    await pass(700);
    expect(await Promise.all(calls)).toEqual(Array(2).fill(unavailable().message));
    // The next batch waits for the first one until the calls of a batch that began with it would have ended.
    await pass(1_500);
    call(3n);
    await pass(1);
    expect(begun).toEqual([1n, 3n]);
  });

  test('begins no item of a batch after its close, whatever the connection goes on with', async () => {
    const { promise, resolve } = Promise.withResolvers<null>();
    const { storage, begun, call } = silent(driver().open, promise);
    const calls = call(1n, 2n, 3n);
    await pass(1);
    await storage.close();
    await pass(1);
    expect(await Promise.all(calls)).toEqual(Array(3).fill(closed().message));
    resolve(null);
    await pass(1);
    expect(begun).toEqual([1n]);
  });

  test('closes its connection once, also at the end of a block, and rejects later calls', async () => {
    const given = driver();
    const storage = createStorage(given);
    {
      await using used = storage;
      await used.ready();
    }
    await storage.close();
    expect(given.close.mock.calls).toEqual([[{ number: 1 }]]);
    await expect(storage.pets.find(1n)).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(given.pets.find).toHaveBeenCalledTimes(1);
  });

  test('shares a connection that was opened before it', async () => {
    const given = driver();
    const misconfigured = unavailable(new StorageMisconfigured('no such folder'));
    given.open.mockRejectedValueOnce(misconfigured);
    const resource = createResource(given);
    const open = () => resource.call(async ({ connection }) => connection);
    await expect(open()).rejects.toBe(misconfigured);
    expect(await open()).toEqual({ number: 1 });
    expect(await createStorage(given, resource).keys.find('digest')).toMatchObject([
      { connection: { number: 1 } },
      'digest',
    ]);
  });

  test('has the types of the ports, and rejects a driver that lacks a method', () => {
    interface Port {
      find(id: bigint): Promise<string | null>;
      add(name: string, key?: string): Promise<void>;
    }
    expectTypeOf<Methods<Port, Connection>>().toEqualTypeOf<{
      readonly find: (call: Call<Connection>, id: bigint) => Promise<string | null>;
      readonly add: (call: Call<Connection>, name: string, key?: string) => Promise<void>;
    }>();
    const { find, add } = driver().pets;
    // @ts-expect-error The method `list` is missing.
    const { pets }: Driver<Connection> = { ...driver(), pets: { find, add } };
    expect(Object.keys(pets)).toEqual(['find', 'add']);
  });
});

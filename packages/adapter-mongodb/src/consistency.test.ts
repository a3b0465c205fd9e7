import { EventEmitter } from 'node:events';
import { type ClientSession, type MongoClient, ObjectId, Timestamp } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { createFence, createReadBarrier, followPrimary, type PrimaryTerm } from './consistency.ts';

const [FIRST, SECOND] = ['7fffffff0000000000000001', '7fffffff0000000000000002'];

interface Server {
  readonly type: string;
  readonly address: string;
  readonly electionId: ObjectId | null;
}

const primary = (address: string, electionId = FIRST): Server => ({
  type: 'RSPrimary',
  address,
  electionId: new ObjectId(electionId),
});

const secondary = (address: string): Server => ({ type: 'RSSecondary', address, electionId: null });

/** A follower of a driver that reports what it sees. */
function follow() {
  const client = new EventEmitter();
  const current = followPrimary(client as unknown as MongoClient);
  const report = (...servers: Server[]) => {
    const newDescription = { servers: new Map(servers.map((server) => [server.address, server])) };
    client.emit('topologyDescriptionChanged', { newDescription });
    return current();
  };
  return { current, report };
}

describe('followPrimary', () => {
  test('knows no primary before the driver does', () => {
    const { current, report } = follow();
    expect(current()).toBeNull();
    expect(report(secondary('a'), secondary('b'))).toBeNull();
    // Services that only speak MongoDB's protocol have no elections.
    expect(report({ ...primary('a'), electionId: null })).toBeNull();
    expect(report(secondary('a'), primary('b'))).toEqual({ address: 'b', electionId: FIRST });
  });

  test.each<[string, boolean, Server[][]]>([
    ['another member became a secondary', true, [[primary('a'), secondary('b')]]],
    ['another member is the primary', false, [[primary('b', SECOND)]]],
    ['the same member was elected again', false, [[primary('a', SECOND)]]],
    ['there was no primary meanwhile', false, [[secondary('a')], [primary('a')]]],
  ])('returns the same object if %s: %s', (_, isSame, reports) => {
    const { report } = follow();
    const before = report(primary('a'));
    const after = reports.map((servers) => report(...servers)).at(-1);
    expect(after).not.toBeNull();
    expect(after === before).toBe(isSame);
  });
});

// tools/explorer shows that no read misses an acknowledged write, in every order of elections, confirmations and reads.

const termOf = (address: string): PrimaryTerm => ({ address, electionId: address });

/** A barrier over a primary that tests change, and what it did. */
function barrierOn(primary: PrimaryTerm | null) {
  const steps: string[] = [];
  const state = { primary, steps, confirm: async () => {} };
  const barrier = createReadBarrier(
    () => state.primary,
    () => {
      steps.push(`confirm ${state.primary?.address}`);
      return state.confirm();
    },
  );
  const read = (during = () => {}) =>
    barrier(async () => {
      const address = state.primary?.address;
      steps.push(`read ${address}`);
      await Promise.resolve();
      during();
      return address;
    });
  return Object.assign(state, { read });
}

describe('createReadBarrier', () => {
  test('confirms a primary once for reads that wait for it together, and for later ones', async () => {
    const { read, steps } = barrierOn(termOf('a'));
    await Promise.all([read(), read(), read()]);
    expect(await read()).toBe('a');
    expect(steps).toEqual(['confirm a', 'read a', 'read a', 'read a', 'read a']);
  });

  test('fails a read whose primary cannot be confirmed, and tries again for the next one', async () => {
    const state = barrierOn(termOf('a'));
    state.confirm = () => Promise.reject(new Error('no majority'));
    await expect(state.read()).rejects.toThrow('no majority');
    state.confirm = async () => {};
    expect(await state.read()).toBe('a');
    expect(state.steps).toEqual(['confirm a', 'confirm a', 'read a']);
  });

  test('gives up if the primary changes during every read', async () => {
    const state = barrierOn(termOf('a'));
    const change = () => {
      state.primary = termOf('a');
    };
    await expect(state.read(change)).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: 'the storage is electing a new primary: try again',
    });
    expect(state.steps).toEqual(Array(3).fill(['confirm a', 'read a']).flat());
  });
});

describe('createFence', () => {
  const time = (t: number) => new Timestamp({ t, i: 0 });

  /** A client whose sessions end operations at the times that tests give them. */
  function fenceOn() {
    const withSession = async <T>(
      { causalConsistency }: { causalConsistency?: boolean },
      work: (session: ClientSession) => T,
    ) => {
      expect(causalConsistency).toBe(true);
      const session = {
        operationTime: undefined as Timestamp | undefined,
        advanceOperationTime(at: Timestamp) {
          session.operationTime = at;
        },
      };
      return work(session as unknown as ClientSession);
    };
    const fence = createFence({ withSession } as Pick<MongoClient, 'withSession'>);
    return {
      /** Ends at a time, once the work is done. */
      write: (at: Timestamp | undefined, work = async () => {}) =>
        fence.write(async (session) => {
          await work();
          Object.assign(session, { operationTime: at });
        }),
      read: () => fence.read(async ({ operationTime }) => operationTime),
    };
  }

  test('reads at the time of the latest write, and never moves back', async () => {
    const { write, read } = fenceOn();
    expect(await read()).toBeUndefined();
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow = write(time(3), () => promise);
    await write(time(5));
    expect(await read()).toEqual(time(5));
    resolve();
    await slow;
    await write(undefined);
    expect(await read()).toEqual(time(5));
    await write(time(6));
    expect(await read()).toEqual(time(6));
  });
});

import { EventEmitter } from 'node:events';
import { type MongoClient, ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { followPrimary } from './primary.ts';

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

/** A follower, and a driver that reports what it sees. */
function follow() {
  const client = new EventEmitter();
  const follower = followPrimary(client as unknown as MongoClient);
  const report = (...servers: Server[]) => {
    const newDescription = { servers: new Map(servers.map((server) => [server.address, server])) };
    client.emit('topologyDescriptionChanged', { newDescription });
    return follower.current();
  };
  return { ...follower, client, report };
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

  test('starts with the response to hello of a client that was connected before', () => {
    const { current, start, report } = follow();
    start({ me: 'a', electionId: new ObjectId(FIRST) });
    const before = current();
    expect(before).toEqual({ address: 'a', electionId: FIRST });
    expect(report(primary('a'))).toBe(before);
  });

  test('prefers an event to the response to hello, and knows no primary from an incomplete one', () => {
    const [late, other, nameless] = [follow(), follow(), follow()];
    late.report(secondary('a'));
    late.start({ me: 'a', electionId: new ObjectId(FIRST) });
    other.start({ me: 'a' });
    nameless.start({ electionId: new ObjectId(FIRST) });
    expect([late.current(), other.current(), nameless.current()]).toEqual([null, null, null]);
  });

  test('leaves no listener behind', () => {
    const { client, stop } = follow();
    stop();
    expect(client.eventNames()).toEqual([]);
  });
});

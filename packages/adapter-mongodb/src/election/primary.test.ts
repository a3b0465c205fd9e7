import { EventEmitter } from 'node:events';
import { type MongoClient, ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { followPrimary } from './primary.ts';

const [FIRST, SECOND] = ['7fffffff0000000000000001', '7fffffff0000000000000002'];

const server = (type: string, address: string, id?: string) => ({ type, address, electionId: id && new ObjectId(id) });
const primary = (address: string, electionId = FIRST) => server('RSPrimary', address, electionId);
const secondary = (address: string) => server('RSSecondary', address);

/** A follower of a driver that reports what it sees. */
function follow() {
  const client = new EventEmitter();
  const { current, onHello, stop } = followPrimary(client as unknown as MongoClient);
  const report = (...servers: ReturnType<typeof server>[]) => {
    const newDescription = { servers: new Map(servers.map((server) => [server.address, server])) };
    client.emit('topologyDescriptionChanged', { newDescription });
    return current();
  };
  return { client, current, onHello, report, stop };
}

describe('followPrimary', () => {
  test('knows no primary before the driver does', () => {
    const { current, report } = follow();
    expect(current()).toBeNull();
    expect(report(secondary('a'), secondary('b'))).toBeNull();
    // Services that only speak MongoDB's protocol have no elections.
    expect(report(server('RSPrimary', 'a'))).toBeNull();
    expect(report(secondary('a'), primary('b'))).toEqual({ address: 'b', electionId: FIRST });
  });

  test('takes the primary of a client that was connected before from its response, unless there was a report', () => {
    const { client, current, onHello, report, stop } = follow();
    const hello = { me: 'a', electionId: new ObjectId(FIRST) };
    onHello({ me: 'a' });
    expect(current()).toBeNull();
    onHello(hello);
    const term = current();
    expect(term).toEqual({ address: 'a', electionId: FIRST });
    expect(report(primary('a'), secondary('b'))).toBe(term);
    expect(report(secondary('a'))).toBeNull();
    onHello(hello);
    expect(current()).toBeNull();
    stop();
    expect(client.listenerCount('topologyDescriptionChanged')).toBe(0);
  });

  test.each<[string, boolean, ReturnType<typeof server>[][]]>([
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

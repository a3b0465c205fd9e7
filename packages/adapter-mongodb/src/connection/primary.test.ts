import { EventEmitter } from 'node:events';
import type { MongoClient } from 'mongodb';
import { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { followPrimary } from './primary.ts';

const ELECTIONS = ['7fffffff0000000000000001', '7fffffff0000000000000002'] as const;

interface Server {
  readonly type: string;
  readonly address: string;
  readonly electionId: ObjectId | null;
}

const primaryAt = (address: string, electionId: string): Server => ({
  type: 'RSPrimary',
  address,
  electionId: new ObjectId(electionId),
});

const secondaryAt = (address: string): Server => ({ type: 'RSSecondary', address, electionId: null });

/** A follower, and a driver that reports what it sees. */
function follow() {
  const client = new EventEmitter();
  const follower = followPrimary(client as unknown as MongoClient);
  return {
    ...follower,
    client,
    report(...servers: Server[]) {
      const newDescription = { servers: new Map(servers.map((server) => [server.address, server])) };
      client.emit('topologyDescriptionChanged', { newDescription });
      return follower.current();
    },
  };
}

describe('followPrimary', () => {
  test('knows no primary before the driver does', () => {
    const { current, report } = follow();
    expect(current()).toBeNull();
    expect(report(secondaryAt('a'), secondaryAt('b'))).toBeNull();
  });

  test('names a primary and its election', () => {
    expect(follow().report(secondaryAt('a'), primaryAt('b', ELECTIONS[0]))).toEqual({
      address: 'b',
      electionId: ELECTIONS[0],
    });
  });

  test('keeps the same object while only other members change', () => {
    const { report } = follow();
    const before = report(primaryAt('a', ELECTIONS[0]));
    expect(report(primaryAt('a', ELECTIONS[0]), secondaryAt('b'))).toBe(before);
  });

  test.each([
    ['another member', [primaryAt('b', ELECTIONS[1])]],
    ['the same member in another term', [primaryAt('a', ELECTIONS[1])]],
    ['the same member after there was none', [secondaryAt('a'), primaryAt('a', ELECTIONS[0])]],
  ])('makes another object for %s', (_, changes) => {
    const { report } = follow();
    const before = report(primaryAt('a', ELECTIONS[0]));
    let after = before;
    for (const server of changes) after = report(server);
    expect(after).not.toBeNull();
    expect(after).not.toBe(before);
  });

  describe('on a client that was connected before', () => {
    const hello = { me: 'a', electionId: new ObjectId(ELECTIONS[0]) };

    test('starts with the response to hello', () => {
      const { current, start, report } = follow();
      start(hello);
      const before = current();
      expect(before).toEqual({ address: 'a', electionId: ELECTIONS[0] });
      expect(report(primaryAt('a', ELECTIONS[0]))).toBe(before);
    });

    test('prefers an event to the response to hello', () => {
      const { current, start, report } = follow();
      report(secondaryAt('a'));
      start(hello);
      expect(current()).toBeNull();
    });

    test('knows no primary from the hello of a secondary', () => {
      const { current, start } = follow();
      start({ me: 'a' });
      expect(current()).toBeNull();
    });
  });

  test('leaves no listener behind', () => {
    const { client, stop } = follow();
    stop();
    expect(client.eventNames()).toEqual([]);
  });
});

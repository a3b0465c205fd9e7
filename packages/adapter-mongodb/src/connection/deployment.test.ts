import { MongoServerSelectionError, type TopologyDescription } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { diagnose, NotInitiated, unsupportedKind } from './deployment.ts';

describe('unsupportedKind', () => {
  const NEW = { maxWireVersion: 17 };

  test.each([
    ['a member of a replica set', { ...NEW, setName: 'rs0' }, null],
    ['a member of a set that is not initiated', { ...NEW, isreplicaset: true }, null],
    ['a router of a sharded cluster', { ...NEW, msg: 'isdbgrid' }, 'router'],
    ['a standalone', { ...NEW, isWritablePrimary: true }, 'standalone'],
    ['a member of MongoDB 5.0', { maxWireVersion: 13, setName: 'rs0' }, 'tooOld'],
    ['a standalone of MongoDB 5.0', { maxWireVersion: 13 }, 'tooOld'],
  ])('of %s', (_name, hello, kind) => {
    expect(unsupportedKind(hello)).toBe(kind);
  });
});

describe('a failure to find a primary', () => {
  test.each([
    [['RSGhost'], true],
    [['RSGhost', 'Unknown'], true],
    // One that was removed from its set, beside one that waits for a primary.
    [['RSGhost', 'RSSecondary', 'Unknown'], false],
    [['RSGhost', 'RSOther'], false],
    [['Unknown'], false],
  ])('among %j is diagnose by a set that is not initiated: %s', (types, isExplained) => {
    const servers = new Map(types.map((type, index) => [`host:${index}`, { type }]));
    const failure = new MongoServerSelectionError('timed out', { servers } as unknown as TopologyDescription);
    expect(diagnose(failure) instanceof NotInitiated).toBe(isExplained);
  });
});

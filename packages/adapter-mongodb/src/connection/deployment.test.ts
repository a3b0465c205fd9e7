import { MongoServerSelectionError, type TopologyDescription } from 'mongodb';
import { expect, test } from 'vitest';
import { checkDeployment, diagnose, NotInitiated } from './deployment.ts';

const NEW = { maxWireVersion: 17 };

test.each([
  ['a router of a sharded cluster', { ...NEW, msg: 'isdbgrid' }, /a router/],
  ['a standalone', { ...NEW, isWritablePrimary: true }, /a standalone/],
  ['a member of MongoDB 5.0', { maxWireVersion: 13, setName: 'rs0' }, /too old/],
  ['a standalone of MongoDB 5.0', { maxWireVersion: 13 }, /too old/],
  ['a member of a set that is not initiated', { ...NEW, isreplicaset: true }, /not initiated/],
])('checkDeployment rejects %s', (_, hello, message) => {
  expect(() => checkDeployment(hello)).toThrow(message);
});

test('checkDeployment accepts a member of a replica set', () => {
  expect(() => checkDeployment({ ...NEW, setName: 'rs0' })).not.toThrow();
});

test.each([
  [['RSGhost'], true],
  [['RSGhost', 'Unknown'], true],
  // One that was removed from its set, beside one that waits for a primary.
  [['RSGhost', 'RSSecondary', 'Unknown'], false],
  [['RSGhost', 'RSOther'], false],
  [['Unknown'], false],
])('diagnose finds in servers of the types %j a set that is not initiated: %s', (types, isNotInitiated) => {
  const servers = new Map(types.map((type, index) => [`host:${index}`, { type }]));
  const failure = new MongoServerSelectionError('timed out', { servers } as unknown as TopologyDescription);
  expect(diagnose(failure) instanceof NotInitiated).toBe(isNotInitiated);
});

import { X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { type MongoClient, MongoServerSelectionError, type TopologyDescription } from 'mongodb';
import { expect, test } from 'vitest';
import { checkDeployment, diagnose, unusableFile } from './deployment.ts';

const NEW = { maxWireVersion: 17 };

test.each([
  ['a router of a sharded cluster', { ...NEW, msg: 'isdbgrid' }, /a router of .*: name the members of a replica set$/],
  [
    'a standalone',
    { ...NEW, isWritablePrimary: true },
    /a standalone: .*: start mongod with --replSet and run rs.initiate\(\)$/,
  ],
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
  [['RSGhost'], 'NotInitiated', /^the replica set is not initiated/],
  [['RSGhost', 'Unknown'], 'NotInitiated', /^the replica set is not initiated/],
  // One that was removed from its set, beside one that waits for a primary.
  [['RSGhost', 'RSSecondary', 'Unknown'], 'MongoServerSelectionError', /^timed out$/],
  [['RSGhost', 'RSOther'], 'MongoServerSelectionError', /^timed out$/],
  [['Unknown'], 'MongoServerSelectionError', /^timed out$/],
  // The driver drops servers that are not in the set.
  [[], 'StorageMisconfigured', /^no server of the URL is a member .*: correct replicaSet, or, .* run rs.initiate\(\)$/],
])('diagnose finds in servers of the types %j the error %s', (types, name, message) => {
  const servers = new Map(types.map((type, index) => [`host:${index}`, { type }]));
  const failure = new MongoServerSelectionError('timed out', { servers } as unknown as TopologyDescription);
  expect(diagnose(failure)).toMatchObject({ name, message: expect.stringMatching(message) });
});

test.each([
  ['no file', undefined, undefined, false],
  ['a file that has not been read', '/ca.pem', undefined, false],
  ['certificates without a file', undefined, 'hello', false],
  ['a certificate', '/ca.pem', rootCertificates[0], false],
  ['an empty file', '/ca.pem', '', true],
  ['a file without a certificate', '/ca.pem', 'hello', true],
  ['a damaged certificate', '/ca.pem', '-----BEGIN CERTIFICATE-----\nhello\n-----END CERTIFICATE-----\n', true],
  ['a certificate in the format DER', '/ca.der', new X509Certificate(rootCertificates[0] as string).raw, true],
])('unusableFile examines %s', (_, tlsCAFile, ca, isUnusable) => {
  const error = unusableFile({ options: { ca, tlsCAFile } } as unknown as MongoClient);
  expect(error?.message).toEqual(isUnusable ? expect.stringMatching(/tlsCAFile has no certificate in the/) : undefined);
});

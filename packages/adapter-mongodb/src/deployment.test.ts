import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import { expect, test } from 'vitest';
import { checkDeployment } from './deployment.ts';

const MEMBER = { maxWireVersion: 17, setName: 'rs0', hosts: ['one:1'] };
const { setName: _, ...STANDALONE } = MEMBER;
const indirect = { directConnection: false };
const direct = { directConnection: true };

test.each([
  ['a router of a sharded cluster', { ...STANDALONE, msg: 'isdbgrid' }, indirect, /a router of .*: name the members/],
  ['a standalone', STANDALONE, indirect, /a standalone: .*: start mongod with --replSet and run rs.initiate\(\)$/],
  ['a member of MongoDB 5.0', { ...MEMBER, maxWireVersion: 13 }, indirect, /too old/],
  ['one of two', { ...MEMBER, hosts: ['one:1', 'two:1'] }, direct, /directConnection=true .*: remove the option$/],
  ['a member beside a passive one', { ...MEMBER, passives: ['two:1'] }, direct, /directConnection=true/],
  ['a member beside an arbiter', { ...MEMBER, arbiters: ['two:1'] }, direct, /directConnection=true/],
])('checkDeployment rejects %s as a misconfiguration', (_, hello, options, message) => {
  expect(() => checkDeployment(hello, options)).toThrow(StorageMisconfigured);
  expect(() => checkDeployment(hello, options)).toThrow(message);
});

test('checkDeployment rejects a set that is not initiated as unavailable, because it may be at any time', () => {
  const check = () => checkDeployment({ ...STANDALONE, isreplicaset: true }, direct);
  expect(check).toThrow(DomainError);
  expect(check).toThrow(
    expect.objectContaining({ cause: expect.objectContaining({ message: expect.stringMatching(/not initiated/) }) }),
  );
});

test('checkDeployment accepts members of a replica set, and the only one of its set directly', () => {
  expect(() => checkDeployment(MEMBER, direct)).not.toThrow();
  expect(() => checkDeployment({ ...MEMBER, hosts: ['one:1', 'two:1'] }, indirect)).not.toThrow();
});

import { StorageMisconfigured } from '@animal-store/domain/ports';
import { expect, test } from 'vitest';
import { checkDeployment } from './deployment.ts';

const MEMBER = { maxWireVersion: 17, setName: 'rs0', hosts: ['one:1'] };
const indirect = { directConnection: false };
const direct = { directConnection: true };

test.each([
  [
    'a router of a sharded cluster',
    { maxWireVersion: 17, msg: 'isdbgrid' },
    indirect,
    /a router of .*: name the members/,
  ],
  ['a member of MongoDB 5.0', { ...MEMBER, maxWireVersion: 13 }, indirect, /too old/],
  ['one of two', { ...MEMBER, hosts: ['one:1', 'two:1'] }, direct, /directConnection=true .*: remove the option$/],
  ['a member beside a passive one', { ...MEMBER, passives: ['two:1'] }, direct, /directConnection=true/],
  ['a member beside an arbiter', { ...MEMBER, arbiters: ['two:1'] }, direct, /directConnection=true/],
])('checkDeployment rejects %s as a misconfiguration', (_, hello, options, message) => {
  expect(() => checkDeployment(hello, options)).toThrow(StorageMisconfigured);
  expect(() => checkDeployment(hello, options)).toThrow(message);
});

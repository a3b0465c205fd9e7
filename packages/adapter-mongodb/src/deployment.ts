import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import type { Document, MongoClient } from 'mongodb';

/** The wire version of MongoDB 6.0. */
const OLDEST_WIRE_VERSION = 17;

/**
 * Checks the server that a client is connected to.
 *
 * @param hello The primary's response to the command `hello`.
 * @throws StorageMisconfigured if the adapter can't work with it, however long it waits.
 */
export function checkDeployment(
  hello: Document,
  { directConnection }: Pick<MongoClient['options'], 'directConnection'>,
) {
  const { maxWireVersion, msg, setName, hosts = [], passives = [], arbiters = [] } = hello;
  if (maxWireVersion < OLDEST_WIRE_VERSION) {
    throw new StorageMisconfigured('the server is too old: MongoDB 6.0 or newer is needed');
  }
  if (msg === 'isdbgrid') {
    throw new StorageMisconfigured(
      'the server is a router of a sharded cluster, whose elections the service cannot see: name the members of a ' +
        'replica set',
    );
  }
  if (hello['isreplicaset'] === true) {
    throw unavailable(new Error('the replica set is not initiated: run rs.initiate()'));
  }
  if (setName === undefined) {
    throw new StorageMisconfigured(
      'the server is a standalone: majority writes need a replica set (one member is enough): ' +
        'start mongod with --replSet and run rs.initiate()',
    );
  }
  if (directConnection && hosts.length + passives.length + arbiters.length > 1) {
    throw new StorageMisconfigured(
      'directConnection=true leads to one member of a replica set of several, which may be deposed: remove the option',
    );
  }
}

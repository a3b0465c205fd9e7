import { X509Certificate } from 'node:crypto';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import { type Document, type MongoClient, MongoServerSelectionError } from 'mongodb';

/** The wire version of MongoDB 6.0. */
const OLDEST_WIRE_VERSION = 17;

/** A replica set that is not initiated. It may be at any time, so this is no misconfiguration. */
export class NotInitiated extends Error {
  override readonly name = 'NotInitiated';
  override readonly message = 'the replica set is not initiated: run rs.initiate()';
}

/**
 * Checks the server that a client is connected to.
 *
 * @param hello The primary's response to the command `hello`.
 * @throws StorageMisconfigured if the adapter can't work with it, however long it waits.
 * @throws NotInitiated if it can't yet.
 */
export function checkDeployment(hello: Document): void {
  if (Number(hello['maxWireVersion']) < OLDEST_WIRE_VERSION) {
    throw new StorageMisconfigured('the server is too old: MongoDB 6.0 or newer is needed');
  }
  if (hello['msg'] === 'isdbgrid') {
    throw new StorageMisconfigured(
      'the server is a router of a sharded cluster, whose elections the service cannot see: name the members of a ' +
        'replica set',
    );
  }
  if (hello['isreplicaset'] === true) throw new NotInitiated();
  if (hello['setName'] === undefined) {
    throw new StorageMisconfigured(
      'the server is a standalone: majority writes need a replica set (one member is enough): ' +
        'start mongod with --replSet and run rs.initiate()',
    );
  }
}

/** Whether a client has lost every server: it drops those that are not in the set, and never checks them again. */
export function hasNoServer(failure: unknown): boolean {
  return serversOf(failure)?.size === 0;
}

/** The cause of a failure that the driver reports as a timeout; otherwise the failure itself. */
export function diagnose(failure: Error): Error {
  if (hasNoServer(failure)) {
    return new StorageMisconfigured(
      'no server of the URL is a member of the replica set that it names: correct replicaSet, or, if the server is a ' +
        'standalone, start mongod with --replSet and run rs.initiate()',
    );
  }
  const types = [...(serversOf(failure)?.values() ?? [])].map(({ type }) => type);
  // A member that was removed, or that is just starting, looks the same: only if no other shows that there is a set.
  const isNotInitiated = types.includes('RSGhost') && types.every((type) => type === 'RSGhost' || type === 'Unknown');
  return isNotInitiated ? new NotInitiated() : failure;
}

function serversOf(failure: unknown) {
  return failure instanceof MongoServerSelectionError ? failure.reason?.servers : undefined;
}

/** The error in the file of certificates that a client has read, or null. Node.js ignores texts that are no certificates. */
export function unusableFile({ options: { ca, tlsCAFile } }: MongoClient): StorageMisconfigured | null {
  if (tlsCAFile === undefined || ca === undefined || hasCertificate(String(ca))) return null;
  return new StorageMisconfigured('the file that the URL names as tlsCAFile has no certificate in the format PEM');
}

function hasCertificate(text: string): boolean {
  try {
    return Boolean(new X509Certificate(text));
  } catch {
    return false;
  }
}

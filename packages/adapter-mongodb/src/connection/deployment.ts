import { X509Certificate } from 'node:crypto';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import { type Document, type MongoClient, MongoServerSelectionError } from 'mongodb';

/** Deployments that the adapter can't work with, however long it waits, and what to do about each. */
const UNSUPPORTED = {
  standalone:
    'the server is a standalone: majority writes need a replica set (one member is enough): ' +
    'start mongod with --replSet and run rs.initiate()',
  noMember:
    'no server of the URL is a member of the replica set that it names: correct replicaSet, or, if the server is a ' +
    'standalone, start mongod with --replSet and run rs.initiate()',
  router:
    'the server is a router of a sharded cluster, whose elections the service cannot see: name the members of a ' +
    'replica set',
  tooOld: 'the server is too old: MongoDB 6.0 or newer is needed',
} as const;

/** The wire version of MongoDB 6.0. */
const OLDEST_WIRE_VERSION = 17;

/** A replica set that is not initiated. It may be at any time, so this is no misconfiguration. */
export class NotInitiated extends Error {
  override readonly name = 'NotInitiated';

  constructor() {
    super('the replica set is not initiated: run rs.initiate()');
  }
}

/**
 * Checks the server that a client is connected to.
 *
 * @returns The primary's response to the command `hello`.
 * @throws StorageMisconfigured if the adapter can't work with it.
 * @throws NotInitiated if it can't yet.
 */
export async function checkDeployment(client: MongoClient): Promise<Document> {
  const hello = await client.db('admin').command({ hello: 1 }, { readPreference: 'primary' });
  const kind = unsupportedKind(hello);
  if (kind !== null) throw new StorageMisconfigured(UNSUPPORTED[kind]);
  if (hello['isreplicaset'] === true) throw new NotInitiated();
  return hello;
}

/**
 * Why the adapter can't work with a server, or null.
 *
 * @param hello The server's response to the command `hello`.
 */
export function unsupportedKind(hello: Document): keyof typeof UNSUPPORTED | null {
  if (Number(hello['maxWireVersion']) < OLDEST_WIRE_VERSION) return 'tooOld';
  if (hello['msg'] === 'isdbgrid') return 'router';
  // A member whose set is not initiated yet has no name of a set either.
  const isMember = hello['setName'] !== undefined || hello['isreplicaset'] === true;
  return isMember ? null : 'standalone';
}

/** Whether a client has lost every server: it drops those that are not in the set, and never checks them again. */
export function hasNoServer(failure: unknown): boolean {
  return serversOf(failure)?.size === 0;
}

/** The cause of a failure that the driver reports as a timeout; otherwise the failure itself. */
export function diagnose(failure: unknown): unknown {
  if (hasNoServer(failure)) return new StorageMisconfigured(UNSUPPORTED.noMember);
  const types = [...(serversOf(failure)?.values() ?? [])].map(({ type }) => type);
  // A member that was removed, or that is just starting, looks the same: only if no other shows that there is a set.
  const isNotInitiated = types.includes('RSGhost') && types.every((type) => type === 'RSGhost' || type === 'Unknown');
  return isNotInitiated ? new NotInitiated() : failure;
}

function serversOf(failure: unknown) {
  return failure instanceof MongoServerSelectionError ? failure.reason?.servers : undefined;
}

/** What is wrong with the file of certificates that a client has read, or null. Node.js ignores what is no certificate. */
export function unusableFile({ options: { ca, tlsCAFile } }: MongoClient): StorageMisconfigured | null {
  if (tlsCAFile === undefined || ca === undefined || hasCertificate(String(ca))) return null;
  return new StorageMisconfigured('the file that the URL names as tlsCAFile has no certificate in the format PEM');
}

function hasCertificate(text: string): boolean {
  try {
    // This would read the format DER, too.
    return text.includes('-----BEGIN ') && new X509Certificate(text).raw.length > 0;
  } catch {
    return false;
  }
}

import { type Document, type MongoClient, MongoServerSelectionError } from 'mongodb';

/** What the adapter can't work with, however long it waits, and what to do about it. */
export const DEPLOYMENT_FAULTS = {
  STANDALONE:
    'the server is a standalone: majority writes need a replica set (one member is enough): ' +
    'start mongod with --replSet and run rs.initiate()',
  NO_MEMBER:
    'no server of the URL is a member of the replica set that it names: correct replicaSet, or, if the server is a ' +
    'standalone, start mongod with --replSet and run rs.initiate()',
  ROUTER:
    'the server is a router of a sharded cluster, whose elections the service cannot see: name the members of a ' +
    'replica set',
  TOO_OLD: 'the server is too old: MongoDB 6.0 or newer is needed',
} as const;

/** A deployment that the adapter can't work with. The message is a whole line for the operator. */
class DeploymentError extends Error {
  override readonly name = 'DeploymentError';
  readonly code: keyof typeof DEPLOYMENT_FAULTS;

  constructor(code: keyof typeof DEPLOYMENT_FAULTS) {
    super(DEPLOYMENT_FAULTS[code]);
    this.code = code;
  }
}

/** The wire version of MongoDB 6.0. */
const OLDEST_WIRE_VERSION = 17;

/** Not a fault: it may be initiated any moment. */
const UNINITIATED = 'the replica set is not initiated: run rs.initiate()';

/**
 * Looks at the server that a client is connected to.
 *
 * @throws DeploymentError where the adapter can't work with it, Error where it can't yet.
 */
export async function checkDeployment(client: MongoClient): Promise<void> {
  const hello = await client.db('admin').command({ hello: 1 });
  const violation = faultOf(hello);
  if (violation !== null) throw new DeploymentError(violation);
  if (hello['isreplicaset'] === true) throw new Error(UNINITIATED);
}

/**
 * What keeps the adapter from working with a server, or null.
 *
 * @param hello The server's answer to the command `hello`.
 */
export function faultOf(hello: Document): keyof typeof DEPLOYMENT_FAULTS | null {
  if (Number(hello['maxWireVersion']) < OLDEST_WIRE_VERSION) return 'TOO_OLD';
  if (hello['msg'] === 'isdbgrid') return 'ROUTER';
  // A member whose set is not initiated yet has no name of a set either.
  const member = hello['setName'] !== undefined || hello['isreplicaset'] === true;
  return member ? null : 'STANDALONE';
}

/**
 * Whether a client has lost every server: it drops those that are no members of the set it looks for, and goes on waiting
 * for others.
 */
export function hasNoServer(failure: unknown): boolean {
  return serversOf(failure)?.size === 0;
}

/** The same failure, or what is behind it where the driver says no more than that time ran out. */
export function explained(failure: unknown): unknown {
  if (hasNoServer(failure)) return new DeploymentError('NO_MEMBER');
  const types = [...(serversOf(failure)?.values() ?? [])].map(({ type }) => type);
  // A member that was removed, or that is just starting, looks the same: only where no other shows that there is a set.
  const uninitiated = types.includes('RSGhost') && types.every((type) => type === 'RSGhost' || type === 'Unknown');
  return uninitiated ? new Error(UNINITIATED) : failure;
}

function serversOf(failure: unknown) {
  return failure instanceof MongoServerSelectionError ? failure.reason?.servers : undefined;
}

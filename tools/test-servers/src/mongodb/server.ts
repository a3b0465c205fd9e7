import { setTimeout as pause } from 'node:timers/promises';
import { onFreePorts } from '@animal-store/test-kit/free-ports';
import { type Document, MongoClient, MongoNetworkError } from 'mongodb';
import { KEY_FILE, startMemberProcesses } from './member-processes.ts';

export { IMAGE } from './member-processes.ts';

/** The name of the database in a URL of one host or more. */
const NAME = /(?<=^mongodb:\/\/[^/]+\/)[^?]*/;

export const databaseOf = (url: string): string => NAME.exec(url)?.[0] ?? '';

/** The same URL with another database. */
export const withDatabase = (url: string, name: string): string => url.replace(NAME, name);

/** Runs a command of administrators on a server. */
export async function run(url: string, command: Document): Promise<Document> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 120_000 });
  try {
    return await client.db('admin').command(command);
  } finally {
    await client.close();
  }
}

/** Waits until the response of a server to a command is right, and returns it. */
export async function until(
  url: string,
  command: Document,
  isRight: (response: Document) => boolean,
): Promise<Document> {
  for (const deadline = Date.now() + 400_000; ; await pause(20)) {
    const response = await run(url, command).catch(unlessClosed);
    if (response !== null && isRight(response)) return response;
    if (Date.now() > deadline) throw new Error(`${url} after 400 seconds: ${JSON.stringify(response)}`);
  }
}

/** A member that steps down closes its connections. */
function unlessClosed(failure: unknown): null {
  if (failure instanceof MongoNetworkError) return null;
  throw failure;
}

/**
 * Makes a replica set of running servers and waits for its primary.
 *
 * @param url Leads to the first of the members directly.
 * @param members As replSetInitiate takes them, without `_id`.
 */
export async function initiate(url: string, members: readonly Document[], settings: object = {}): Promise<void> {
  const configured = members.map((member, _id) => ({ _id, ...member }));
  await run(url, { replSetInitiate: { _id: 'rs0', members: configured, settings } });
  await until(url, { hello: 1 }, ({ primary }) => primary !== undefined);
}

/** Elections within a second or two, not ten. */
const QUICK_ELECTIONS = { electionTimeoutMillis: 1_000, heartbeatIntervalMillis: 200 };

/** A server in a container of its own, which can be killed and started again at the same address. */
export type LoneServer = Awaited<ReturnType<typeof startLoneServer>>;

/** @param kind A standalone, or a member of `rs0` whose set is not initiated yet. */
export async function startLoneServer(kind: 'standalone' | 'uninitiated') {
  const set = kind === 'standalone' ? '' : undefined;
  const { port, kill, start, stop } = await onFreePorts(1, async (port) => ({
    port,
    ...(await startMemberProcesses([port], 'published', set)),
  }));
  const host = `127.0.0.1:${port}`;
  return {
    /** The URL of a database on it, with these options. */
    url: (database: string, query = '') => `mongodb://${host}/${database}?${query}`,
    /** Makes it the only member of a set, if it was started as a member. */
    initiate: (settings?: object) => initiate(`mongodb://${host}/?directConnection=true`, [{ host }], settings),
    /** Ends the server as a crash does. */
    kill: () => kill(port),
    /** Starts the server that was killed, and returns when it accepts connections. */
    start: () => start(port),
    /** The same with access control: clients need a user, who exists already. */
    startGuarded: () => start(port, `--replSet rs0 --keyFile ${KEY_FILE}`),
    /** The same as a standalone, with the data of the member. */
    startAlone: () => start(port, ''),
    stop,
  };
}

/** A replica set of one. */
export type ReplicaSet = Omit<LoneServer, 'initiate'>;

export async function startReplicaSet(settings: object = QUICK_ELECTIONS): Promise<ReplicaSet> {
  const server = await startLoneServer('uninitiated');
  try {
    await server.initiate(settings);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { ...server, url: (database, query = 'replicaSet=rs0') => server.url(database, query) };
}

/** The server of a run. */
export async function startServer() {
  const { url, stop } = await startReplicaSet({});
  return { url: url('', 'directConnection=true'), stop };
}

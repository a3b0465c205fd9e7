import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  IMAGE as MONGODB_IMAGE,
  startServer as startMongo,
  withDatabase,
} from '@animal-store/test-servers/mongodb/server';
import { IMAGE as POSTGRES_IMAGE, startServer as startPostgres } from '@animal-store/test-servers/postgres/server';
import { MongoClient } from 'mongodb';
import { peer } from './peers.ts';
import { pocketBase } from './pocketbase.ts';
import { type Contender, show } from './server.ts';

/** A storage of the service, and the servers that store pets in the same way. */
export interface Storage {
  /** For tables. */
  readonly title: string;
  /** The image of the database server; absent if there is none. */
  readonly image?: string;
  open(): Promise<OpenStorage>;
  /** The ratios are those to the first one. It is the only one in a quick run. */
  readonly peers: readonly [Contender, ...Contender[]];
}

/** A storage for a run. */
export interface OpenStorage {
  /** The environment of a server that shares its pets only with those of the same number. */
  environment(number: number): NodeJS.ProcessEnv | Promise<NodeJS.ProcessEnv>;
  /** How many commands a database server has run since its start; absent if that is not known. */
  commands?(): Promise<number>;
  /** Removes all of it. */
  close(): Promise<void>;
}

const EQUIPPED = peer('Fastify, equipped', { EQUIPPED: 'yes' });

export const STORAGES = {
  memory: {
    title: 'in memory',
    open: async () => ({ environment: () => ({ STORAGE: 'memory' }), close: async () => {} }),
    peers: [peer('Fastify'), EQUIPPED],
  },
  sqlite: { title: 'in a file', open: openFolder, peers: [pocketBase] },
  mongodb: {
    title: 'on MongoDB',
    image: MONGODB_IMAGE,
    open: openMongo,
    peers: [peer('Fastify + driver'), EQUIPPED],
  },
  postgres: {
    title: 'on PostgreSQL',
    image: POSTGRES_IMAGE,
    open: openPostgres,
    peers: [peer('Fastify + pg'), EQUIPPED],
  },
} satisfies Record<string, Storage>;

export type StorageName = keyof typeof STORAGES;

/** Reports on standard error that something is not measured, and the reason. */
export function notMeasured(what: string, reason: string): void {
  show('');
  console.error(`NOT MEASURED ${what}: ${reason}`);
}

async function openFolder(): Promise<OpenStorage> {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-bench-'));
  return {
    environment: (number) => ({ STORAGE: 'sqlite', SQLITE_FILE: join(folder, `${number}.db`) }),
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** `opcounters` would count the documents of an insertion. */
const COMMANDS = ['find', 'aggregate', 'insert', 'findAndModify', 'update'];

/** A replica set of one in a container, its data in memory. */
async function openMongo(): Promise<OpenStorage> {
  const { url, stop } = await startMongo();
  const client = new MongoClient(url);
  return {
    environment: (number) => ({ STORAGE: 'mongodb', MONGODB_URL: withDatabase(url, `bench_${number}`) }),
    async commands() {
      const { metrics } = await client.db('admin').command({ serverStatus: 1 });
      return COMMANDS.reduce((sum, command) => sum + Number(metrics.commands[command].total), 0);
    },
    async close() {
      await client.close();
      await stop();
    },
  };
}

/** A server in a container, its data in memory. */
async function openPostgres(): Promise<OpenStorage> {
  const { url, run, stop } = await startPostgres();
  return {
    async environment(number) {
      await run(`CREATE SCHEMA bench_${number}`);
      return { STORAGE: 'postgres', POSTGRES_URL: `${url}?options=-c%20search_path%3Dbench_${number}` };
    },
    close: stop,
  };
}

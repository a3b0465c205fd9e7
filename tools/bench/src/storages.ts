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
  /** The environment of servers that share their pets with no others. */
  environment(): Promise<NodeJS.ProcessEnv>;
  /** How many commands a database server has run since its start; absent if that is not known. */
  commands?(): Promise<number>;
  /** Removes all of it. */
  close(): Promise<void>;
}

const EQUIPPED = peer('Fastify, equipped', { EQUIPPED: 'yes' });

const freshName = () => `bench_${crypto.randomUUID().replaceAll('-', '')}`;

/** `opcounters` would count the documents of an insertion. */
const MONGODB_COMMANDS = ['find', 'aggregate', 'insert', 'findAndModify', 'update'];

/** The data of database servers is in memory. */
export const STORAGES = {
  memory: {
    title: 'in memory',
    peers: [peer('Fastify'), EQUIPPED],
    open: async () => ({ environment: async () => ({ STORAGE: 'memory' }), close: async () => {} }),
  },
  sqlite: {
    title: 'in a file',
    peers: [pocketBase],
    async open() {
      const folder = mkdtempSync(join(tmpdir(), 'animal-store-bench-'));
      return {
        environment: async () => ({ STORAGE: 'sqlite', SQLITE_FILE: join(folder, freshName()) }),
        close: async () => rmSync(folder, { recursive: true, force: true }),
      };
    },
  },
  mongodb: {
    title: 'on MongoDB',
    image: MONGODB_IMAGE,
    peers: [peer('Fastify + driver'), EQUIPPED],
    async open() {
      const { url, stop } = await startMongo();
      const client = new MongoClient(url);
      return {
        environment: async () => ({ STORAGE: 'mongodb', MONGODB_URL: withDatabase(url, freshName()) }),
        async commands() {
          const { metrics } = await client.db('admin').command({ serverStatus: 1 });
          return MONGODB_COMMANDS.reduce((sum, command) => sum + Number(metrics.commands[command].total), 0);
        },
        async close() {
          await client.close();
          await stop();
        },
      };
    },
  },
  postgres: {
    title: 'on PostgreSQL',
    image: POSTGRES_IMAGE,
    peers: [peer('Fastify + pg'), EQUIPPED],
    async open() {
      const { url, run, stop } = await startPostgres();
      return {
        async environment() {
          const schema = freshName();
          await run(`CREATE SCHEMA ${schema}`);
          return { STORAGE: 'postgres', POSTGRES_URL: `${url}?options=-c%20search_path%3D${schema}` };
        },
        close: stop,
      };
    },
  },
} satisfies Record<string, Storage>;

export type StorageName = keyof typeof STORAGES;

/** Reports on standard error that something is not measured, and the reason. */
export function notMeasured(what: string, reason: string): void {
  show('');
  console.error(`NOT MEASURED ${what}: ${reason}`);
}

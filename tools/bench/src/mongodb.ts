import { withDatabase } from '@animal-store/test-mongodb/database-url';
import { startServer } from '@animal-store/test-mongodb/server';
import { MongoClient } from 'mongodb';
import { cpuSeconds } from './server.ts';

/** A MongoDB server for the run, or the reason why there is none. */
export type MongoForBench =
  | { readonly missing: string }
  | {
      /** The URL of a database that is new. It is gone when the server stops. */
      freshDatabase(): string;
      /** CPU time that the server has used, in seconds; NaN if it is no process of this machine. */
      cpuSeconds(): number;
      /** How many commands of those that the service sends it has run. */
      commands(): Promise<number>;
      stop(): Promise<void>;
    };

/** Not `opcounters`: these count the documents of an insertion. */
const COMMANDS = ['find', 'aggregate', 'insert', 'findAndModify', 'update'];

/** Starts a replica set of one in a container, its data in memory; or uses the server that TEST_MONGODB_URL names. */
export async function startMongo(): Promise<MongoForBench> {
  // The containers are recognised by their label: no helper container needs to watch them.
  process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';
  const { provided, pid, stop } = await startServer();
  if ('missing' in provided) return provided;
  const client = new MongoClient(provided.url);
  let databases = 0;
  return {
    freshDatabase() {
      databases += 1;
      return withDatabase(provided.url, `${provided.prefix}${databases}_test`);
    },
    cpuSeconds: () => cpuSeconds(pid),
    async commands() {
      const { metrics } = await client.db('admin').command({ serverStatus: 1 });
      return COMMANDS.reduce((sum, command) => sum + Number(metrics.commands[command].total), 0);
    },
    async stop() {
      await client.close();
      await stop();
    },
  };
}

import { withDatabase } from '@animal-store/test-mongodb/database-url';
import { startServer } from '@animal-store/test-mongodb/server';
import { MongoClient } from 'mongodb';
import type { OpenStorage } from './open-storage.ts';
import { cpuSeconds } from './server.ts';

/** `opcounters` would count the documents of an insertion. */
const COMMANDS = ['find', 'aggregate', 'insert', 'findAndModify', 'update'];

/** A replica set of one in a container, its data in memory. */
export async function openMongo(): Promise<OpenStorage | { readonly missing: string }> {
  // The containers are recognised by their label: no helper container needs to watch them.
  process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';
  const server = await startServer();
  if ('missing' in server) return server;
  const { provided, pid, stop } = server;
  const client = new MongoClient(provided.url);
  let databases = 0;
  return {
    environment() {
      databases += 1;
      return { STORAGE: 'mongodb', MONGODB_URL: withDatabase(provided.url, `bench_${databases}`) };
    },
    async usage() {
      const { metrics } = await client.db('admin').command({ serverStatus: 1 });
      const commands = COMMANDS.reduce((sum, command) => sum + Number(metrics.commands[command].total), 0);
      return { cpuSeconds: cpuSeconds(pid), commands };
    },
    async close() {
      await client.close();
      await stop();
    },
  };
}

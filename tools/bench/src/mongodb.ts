import { withDatabase } from '@animal-store/test-mongodb/database-url';
import { startServer } from '@animal-store/test-mongodb/server';

/** A MongoDB server for the run, or the reason why there is none. */
export type MongoForBench =
  | { readonly missing: string }
  | {
      /** The URL of a database that is new. It is gone when the server stops. */
      freshDatabase(): string;
      stop(): Promise<void>;
    };

/** Starts a replica set of one in a container, its data in memory; or uses the server that TEST_MONGODB_URL names. */
export async function startMongo(): Promise<MongoForBench> {
  // The containers are recognised by their label: no helper container needs to watch them.
  process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';
  const { provided, stop } = await startServer();
  if ('missing' in provided) return provided;
  let databases = 0;
  return {
    freshDatabase() {
      databases += 1;
      return withDatabase(provided.url, `${provided.prefix}${databases}_test`);
    },
    stop,
  };
}

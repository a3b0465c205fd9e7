import { whyNoContainers } from '@animal-store/test-kit/containers';
import { IMAGE, startServer } from '@animal-store/test-postgres/server';
import type { OpenStorage } from './open-storage.ts';

/** The contenders of a run need fewer. */
const SCHEMAS = 100;

/** A server in a container, its data in memory. */
export async function openPostgres(): Promise<OpenStorage | { readonly missing: string }> {
  // The containers are recognised by their label: no helper container needs to watch them.
  process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';
  const missing = await whyNoContainers(IMAGE);
  if (missing !== null) return { missing };
  const { url, run, stop } = await startServer();
  await run(`DO $$ BEGIN FOR n IN 1..${SCHEMAS} LOOP EXECUTE 'CREATE SCHEMA bench_' || n; END LOOP; END $$`);
  let schemas = 0;
  return {
    environment() {
      schemas += 1;
      return { STORAGE: 'postgres', POSTGRES_URL: `${url}?options=-c%20search_path%3Dbench_${schemas}` };
    },
    close: stop,
  };
}

import { createClient } from '@animal-store/client';
import { freshDatabaseFile } from '@animal-store/test-kit/fresh-folder';
import { fromSources, run } from '@animal-store/test-kit/programs';
import { startService } from '@animal-store/test-kit/service';
import { describeWithMongo, startReplicaSet } from '@animal-store/test-servers/mongodb';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startCallers } from './callers.ts';

const CALLERS = 8;

/** How long a client repeats a request: longer than the service is stopped. In milliseconds. */
const TIMEOUT = 600_000;

/** How many pets are created before a copy, between two, and after the move, at least. */
const PROGRESS = 200;

/** Runs the command line to its end, and returns its output. */
async function cli(environment: Record<string, string>, ...words: string[]): Promise<Record<string, unknown>> {
  const env = { PATH: process.env['PATH'], ...environment };
  return JSON.parse(await run(process.execPath, [...fromSources('cli'), ...words], { env }));
}

describeWithMongo('a service that moves from SQLite to a replica set', () => {
  test('loses and doubles no pet of clients that retry, and their API key stays valid', async () => {
    const set = await startReplicaSet();
    onTestFinished(() => set.stop());
    const file = { SQLITE_FILE: freshDatabaseFile() };
    const cluster = { MONGODB_URL: set.url('moved') };
    await using before = await startService({ STORAGE: 'sqlite', ...file });
    // A busy machine may take longer than a call may.
    const issue = () => cli(file, 'keys', 'issue', '--holder', 'the zoo');
    const { key } = await vi.waitFor(issue, { timeout: 60_000, interval: 1_000 });
    const client = createClient({ url: before.url, key: key as string });
    const create = (name: string) =>
      client.createPet({ name, categoryId: 1n }, { idempotencyKey: name, timeout: TIMEOUT });
    const callers = startCallers(CALLERS, create);
    const progress = () => {
      const goal = callers.created.size + PROGRESS;
      return callers.until(() => callers.created.size > goal);
    };
    await progress();
    // Its check may or may not see the pets that are created meanwhile.
    const { stderr = '' } = await cli(file, 'copy', '--to', cluster.MONGODB_URL).catch((error) => error);
    expect(stderr).toMatch(/^$|a storage has changed/);
    await progress();
    // Requests that have no response yet are repeated after the move.
    await before[Symbol.asyncDispose]();
    const { copied, alreadyCopied } = await cli(file, 'copy', '--to', cluster.MONGODB_URL);
    expect(alreadyCopied).toBeGreaterThan(PROGRESS);
    expect(Number(copied) + Number(alreadyCopied)).toBeGreaterThanOrEqual(callers.created.size);

    await using _ = await startService({ STORAGE: 'mongodb', ...cluster, PORT: new URL(before.url).port });
    await progress();
    await callers.stop();
    const [[first, id] = ['']] = [...callers.created];
    expect(await create(first)).toMatchObject({ id });
    await callers.expectStored(client);
  });
});

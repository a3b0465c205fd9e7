import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Client, createClient } from '@animal-store/client';
import { startService } from '@animal-store/test-kit/service';
import { describeWithMongo, startReplicaSet } from '@animal-store/test-servers/mongodb';
import { expect, onTestFinished, test } from 'vitest';

const COMMAND_LINE = fileURLToPath(new URL('../../../apps/cli/src/main.ts', import.meta.url));

const CALLERS = 8;

/** How long a client repeats a request: longer than the service is stopped. In milliseconds. */
const TIMEOUT = 600_000;

/** How many pets are created before a copy, between two, and after the move, at least. */
const PROGRESS = 200;

const execute = promisify(execFile);

/** Runs a command to its end, and returns its output. */
async function run(environment: Record<string, string>, ...words: string[]): Promise<Record<string, unknown>> {
  const command = ['--conditions=@animal-store/source', COMMAND_LINE, ...words];
  const { stdout } = await execute(process.execPath, command, { env: { PATH: process.env['PATH'], ...environment } });
  return JSON.parse(stdout);
}

/** Callers that create pets one after the other, each with an idempotency key, until they are stopped. */
function startCallers(client: Client) {
  const created = new Map<string, bigint>();
  let running = true;
  async function create(caller: number): Promise<void> {
    for (let round = 0; running; round += 1) {
      const name = `${caller}-${round}`;
      const { id } = await client.createPet({ name, categoryId: 1n }, { idempotencyKey: name, timeout: TIMEOUT });
      created.set(name, id);
    }
  }
  const callers = Promise.all(Array.from({ length: CALLERS }, (_, caller) => create(caller)));
  return {
    created,
    async progress() {
      const goal = created.size + PROGRESS;
      await Promise.race([callers, expect.poll(() => created.size > goal).toBe(true)]);
    },
    async stop() {
      running = false;
      await callers;
    },
  };
}

describeWithMongo('a service that moves from SQLite to a replica set', () => {
  test('loses and doubles no pet of clients that retry, and their API key stays valid', async () => {
    const set = await startReplicaSet();
    onTestFinished(() => set.stop());
    const folder = mkdtempSync(join(tmpdir(), 'animal-store-move-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = { SQLITE_FILE: join(folder, 'animals.db') };
    const cluster = { MONGODB_URL: set.url('moved') };
    const before = await startService({ STORAGE: 'sqlite', ...file });
    onTestFinished(() => before[Symbol.asyncDispose]());
    const { key } = await run(file, 'keys', 'issue', '--holder', 'the zoo');
    const client = createClient({ url: before.url, key: key as string });
    const callers = startCallers(client);
    await callers.progress();
    // Its check may or may not see the pets that are created meanwhile.
    const { stderr = '' } = await run(file, 'copy', '--to', cluster.MONGODB_URL).catch((error) => error);
    expect(stderr).toMatch(/^$|a storage has changed/);
    await callers.progress();
    // Requests that have no response yet are repeated after the move.
    await before[Symbol.asyncDispose]();
    const { copied, alreadyCopied } = await run(file, 'copy', '--to', cluster.MONGODB_URL);
    expect(alreadyCopied).toBeGreaterThan(PROGRESS);
    expect(Number(copied) + Number(alreadyCopied)).toBeGreaterThanOrEqual(callers.created.size);

    const after = await startService({ STORAGE: 'mongodb', ...cluster, PORT: new URL(before.url).port });
    onTestFinished(() => after[Symbol.asyncDispose]());
    await callers.progress();
    await callers.stop();
    const [first] = callers.created.keys() as MapIterator<string>;
    const again = await client.createPet({ name: first as string, categoryId: 1n }, { idempotencyKey: first });
    expect(again.id).toBe(callers.created.get(first as string));
    const stored: [string, bigint][] = [];
    for await (const { name, id } of client.allPets()) stored.push([name, id]);
    expect(stored).toHaveLength(callers.created.size);
    expect(new Map(stored)).toEqual(callers.created);
  });
});

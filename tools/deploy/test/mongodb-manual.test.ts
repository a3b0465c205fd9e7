import { ROOT, run } from '@animal-store/test-kit/programs';
import { startReplicaSet } from '@animal-store/test-servers/mongodb/server';
import { expect, inject, onTestFinished, test } from 'vitest';
import { cli, documented } from './programs.ts';

test.skipIf(inject('missing').includes('image'))(
  'the command of the manual that follows a restore skips ids',
  async () => {
    const server = await startReplicaSet();
    onTestFinished(server.stop);
    const env = { STORAGE: 'mongodb', MONGODB_URL: server.url('animals') };
    const create = (key: string) => cli(env, `pets create --name Rex --category-id 1 --idempotency-key ${key}`);
    expect(JSON.parse(await create('one'))).toMatchObject({ name: 'Rex' });
    // mongosh is not in every image, so the adapter's driver runs the statement.
    const script = `
      import { MongoClient, Long as Numbers } from 'mongodb';
      const Long = (digits) => Numbers.fromString(digits);
      const client = new MongoClient(process.env.MONGODB_URL);
      const db = { counters: client.db().collection('counters') };
      await ${documented('storage-mongodb.md', /--eval '(db\.counters\..+)'$/m)};
      await client.close();
    `;
    const words = ['--input-type=module', '--eval', script];
    await run(process.execPath, words, { env, cwd: `${ROOT}packages/adapter-mongodb` });
    expect(await create('two')).toMatch(/^\{"id":10000\d\d,/);
  },
  120_000,
);

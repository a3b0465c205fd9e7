import { createClient } from '@animal-store/client';
import { KEY, startService } from '@animal-store/test-kit/service';
import { describeWithMongo, startReplicaSet } from '@animal-store/test-servers/mongodb';
import { onTestFinished, test } from 'vitest';
import { startCallers } from './callers.ts';

/** How often the service or its database is killed. */
const KILLS = 12;

/** One kill of so many is the database's. */
const DATABASE_SHARE = 4;

const CALLERS = 16;

/** How many pets are created between two kills, at least; a random number of others follows. */
const PROGRESS = 20;

/** How long a call is repeated, in milliseconds: on a busy machine a start takes a while, and a call may meet several kills. */
const CALL_TIMEOUT = 600_000;

describeWithMongo('the client of a service on MongoDB', () => {
  test(`creates each pet exactly once through ${KILLS} kills of the service and its database`, {
    timeout: 600_000 + KILLS * 60_000,
  }, async () => {
    const set = await startReplicaSet();
    onTestFinished(() => set.stop());
    const environment = { STORAGE: 'mongodb', MONGODB_URL: set.url('client') };
    let service = await startService(environment);
    onTestFinished(() => service[Symbol.asyncDispose]());
    const client = createClient({ url: service.url, key: KEY, timeout: CALL_TIMEOUT });

    const callers = startCallers(CALLERS, (name) => client.createPet({ name, categoryId: 1n }));
    const { created } = callers;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const goal = created.size + PROGRESS * (1 + Math.random());
      await callers.until(() => created.size > goal);
      if (kill % DATABASE_SHARE === 0) {
        await set.kill();
        await set.start();
      } else {
        await service[Symbol.asyncDispose]();
        service = await startService({ ...environment, PORT: new URL(service.url).port });
      }
    }
    await callers.stop();
    process.stdout.write(`${created.size} pets created through ${KILLS} kills\n`);
    await callers.expectStored(client);
  });
});

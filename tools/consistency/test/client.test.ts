import { createClient } from '@animal-store/client';
import { KEY, startService } from '@animal-store/test-kit/service';
import { describeWithMongo, startReplicaSet } from '@animal-store/test-servers/mongodb';
import { expect, onTestFinished, test } from 'vitest';

/** How often the service or its database is killed; the environment can ask for more. */
const KILLS = Number(process.env['CONSISTENCY_KILLS'] ?? 12);

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

    const created = new Map<string, bigint>();
    let killing = true;
    let kills = 0;
    async function createUntilTheLastKill(caller: number): Promise<void> {
      for (let round = 0; killing; round += 1) {
        const name = `${caller}-${round}`;
        created.set(name, (await client.createPet({ name, categoryId: 1n })).id);
      }
    }
    async function killEachInTurn(): Promise<void> {
      while (killing && kills < KILLS) {
        const goal = created.size + PROGRESS * (1 + Math.random());
        await expect.poll(() => !killing || created.size > goal).toBe(true);
        kills += 1;
        if (kills % DATABASE_SHARE === 0) {
          await set.kill();
          await set.start();
        } else {
          await service[Symbol.asyncDispose]();
          service = await startService({ ...environment, PORT: new URL(service.url).port });
        }
      }
    }
    const callers = Array.from({ length: CALLERS }, (_, caller) => createUntilTheLastKill(caller));
    // A failure ends the others, too.
    const ending = [killEachInTurn(), ...callers].map((each) =>
      each.finally(() => {
        killing = false;
      }),
    );
    await Promise.allSettled(ending);
    await Promise.all(ending);

    const stored: [string, bigint][] = [];
    for await (const { name, id } of client.allPets()) stored.push([name, id]);
    process.stdout.write(`${stored.length} pets created through ${KILLS} kills\n`);
    expect(stored.length).toBe(created.size);
    expect(new Map(stored)).toEqual(created);
  });
});

import { setTimeout as pause } from 'node:timers/promises';
import {
  behindProxy,
  databaseAt,
  describeWithMongo,
  type ReplicaSet,
  startReplicaSet,
} from '@animal-store/test-mongodb';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { addTo, openStorage, rex, times } from './fixtures.ts';

const ROUNDS = 3;
const CLIENTS = 8;

describeWithMongo('a primary that steps down', () => {
  let server: ReplicaSet;
  beforeAll(async () => {
    server = await startReplicaSet(1);
  });
  afterAll(() => server?.stop());

  // In the first half second after connecting the driver's monitor gets no events of the server, so the driver learns of a
  // step-down from the response to a write.
  test.each([
    ['a client of its own', (url: string) => ({ url })],
    [
      'a client that returns bigint',
      (url: string) => {
        const client = new MongoClient(url, { useBigInt64: true });
        onTestFinished(() => client.close());
        return { client };
      },
    ],
  ])('does not end the process right after connections broke, with %s', async (_, optionsFor) => {
    const uncaught = vi.fn<(error: Error) => void>();
    process.on('uncaughtException', uncaught);
    onTestFinished(() => void process.off('uncaughtException', uncaught));
    const past = `${server.url('step_down').replace('?replicaSet=rs0', '')}?directConnection=true`;
    const { url, proxy } = await behindProxy(past);
    const { pets } = openStorage(optionsFor(url));
    let added = 0;
    let done = false;
    const clients = times(CLIENTS, async () => {
      while (!done) {
        try {
          await addTo(pets, rex);
          added += 1;
        } catch (error) {
          expect(error).toMatchObject({ code: 'storage_unavailable' });
          await pause(10);
        }
      }
    });
    const progress = async () => {
      for (const goal = added + CLIENTS; added < goal; ) {
        await pause(5);
        expect(uncaught.mock.calls).toEqual([]);
      }
    };
    for (let round = 1; round <= ROUNDS; round += 1) {
      await progress();
      proxy.pass();
      await progress();
      await databaseAt(past).admin().command({ replSetStepDown: 1, force: true });
    }
    await progress();
    done = true;
    await Promise.all(clients);
  });
});

import { type ClientSession, type MongoClient, Timestamp } from 'mongodb';
import { expect, test } from 'vitest';
import { createFence } from './fence.ts';

test('createFence reads at the time of the latest write, and never moves back', async () => {
  // Sessions whose operations end at the times that the test gives them.
  const withSession = (_: object, work: (session: ClientSession) => unknown) => {
    const session = { advanceOperationTime: (operationTime: Timestamp) => Object.assign(session, { operationTime }) };
    return work(session as unknown as ClientSession);
  };
  const fence = createFence({ withSession } as unknown as MongoClient);
  const time = (t: number) => new Timestamp({ t, i: 0 });
  const write = (operationTime?: Timestamp) =>
    fence.write(async (session) => Object.assign(session, operationTime && { operationTime }));
  const read = () => fence.read(async ({ operationTime }) => operationTime);
  expect(await read()).toBeUndefined();
  for (const at of [time(5), time(3), undefined]) {
    await write(at);
    expect(await read()).toEqual(time(5));
  }
  await write(time(6));
  expect(await read()).toEqual(time(6));
});

import { expect, test } from 'vitest';
import { KEY, storageEnvironment } from './service.ts';
import { type Running, startProcess } from './service-process.ts';

test('shows a pet to another process at once, and keeps it when both have ended', async () => {
  const environment = { ...storageEnvironment(), API_KEYS: KEY };
  const [one, other] = [startProcess(environment), startProcess(environment)];
  const [first, second] = [await one.listens(), await other.listens()];
  for (let count = 0; count < 20; count += 1) {
    const added = await (count % 2 === 0 ? first : second).add({ name: `Rex ${count}`, categoryId: 2 ** 40 });
    const seen = await (count % 2 === 0 ? second : first).call('GET', String(added.headers.location));
    expect([seen.status, seen.text]).toEqual([200, added.text]);
  }
  one.process.kill('SIGKILL');
  other.process.kill('SIGTERM');
  expect(await other.exit).toBe(0);
  expect(one.output.err + other.output.err).toBe('');
  const third = await startProcess(environment).listens();
  expect((await third.call('GET', '/v1/pets')).json).toHaveLength(20);
});

test('says at the first start where it stores pets', async () => {
  const { says } = startProcess(storageEnvironment());
  await says(/^ {2}Storage: +(?:MongoDB|PostgreSQL|a SQLite file)$/m);
});

test('ends with code 2 in production without any key', async () => {
  /** Starts it again if its storage has responded too late, as on a busy machine: then it goes on without it. */
  async function ended(): Promise<Running> {
    const running = startProcess({ ...storageEnvironment(), NODE_ENV: 'production' });
    const goesOn = () => running.output.out.includes('the storage is unavailable');
    await expect.poll(() => running.process.exitCode !== null || goesOn()).toBe(true);
    return running.process.exitCode === null ? ended() : running;
  }
  const { exit, output } = await ended();
  expect(await exit).toBe(2);
  expect(output.err).toBe('animal-store: there is no API key: set API_KEYS or issue a key\n');
});

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { createClient } from '@animal-store/client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freePort, freshFile, KEY } from './service.ts';
import { listeningAt, type Running, startProcess } from './service-process.ts';

const start = (environment: Record<string, string> = {}) =>
  startProcess({ WORKERS: '2', STORAGE: 'sqlite', SQLITE_FILE: freshFile(), API_KEYS: KEY, ...environment });

/** The process ids of the workers that listen, in the order of their starts. */
async function workersOf({ process: { pid } }: Running, count: number): Promise<number[]> {
  const children = () =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
      .map(Number);
  await expect.poll(children, { timeout: 30_000 }).toHaveLength(count);
  return children();
}

function parentOf(pid: string): number | null {
  try {
    return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
  } catch {
    return null;
  }
}

const isAlive = (pid: number) => parentOf(String(pid)) !== null;

async function createPets(port: number, count: number): Promise<void> {
  const client = createClient({ url: `http://127.0.0.1:${port}/v1`, key: KEY });
  for (let index = 0; index < count; index += 1) await client.createPet({ name: `Rex ${index}`, categoryId: 1n });
}

/** How many creations the metrics count. */
async function creationsIn(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(Number(/^process_start_time_seconds (\d+)/m.exec(text)?.[1])).toBeGreaterThan(1.7e9);
  expect(text.match(/^animal_store_log_lines_lost_total .*$/gm)).toEqual([expect.stringMatching(/ 0$/)]);
  expect(text.match(/^animal_store_build_info\{.*$/gm)).toEqual([expect.stringMatching(/ 1$/)]);
  return Number(/^http_request_duration_seconds_count\{method="POST".*status="201"\} (\d+)$/m.exec(text)?.[1]);
}

describe('WORKERS=2', () => {
  test('serves at one port with one set of metrics, opens no debugger in production, and stops as one', async () => {
    const running = start({ NODE_ENV: 'production' });
    const port = await listeningAt(running);
    const workers = await workersOf(running, 2);
    // Each connection goes to the next worker.
    await Promise.all(Array.from({ length: 8 }, () => createPets(port, 10)));
    await expect.poll(() => creationsIn(port)).toBe(80);
    running.process.kill('SIGUSR1');
    await running.says(/"msg":"SIGUSR1 is ignored in production"/);
    running.process.kill('SIGTERM');
    expect(await running.exit).toBe(0);
    expect(running.output.err).toBe('');
    expect(workers.map(isAlive)).toEqual([false, false]);

    const lines = running.output.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const events = lines.filter(({ msg }) => msg !== 'request').map(({ msg }) => msg);
    expect(events).toEqual(['listening', 'SIGUSR1 is ignored in production', 'stopping', 'stopped']);
    expect(lines[0]).toMatchObject({ workers: 2, storage: 'sqlite' });
    expect(lines.filter(({ method, status }) => method === 'POST' && status === 201)).toHaveLength(80);
  });

  test('starts a worker again, loses no creation, and no count falls', async () => {
    // If no worker listens for a short time, the system chooses another port afterwards.
    const running = start({ PORT: String(await freePort()) });
    const port = await listeningAt(running);
    const workers = await workersOf(running, 2);
    await createPets(port, 20);
    await expect.poll(() => creationsIn(port)).toBe(20);
    const creating = Promise.all(Array.from({ length: 4 }, () => createPets(port, 50)));
    process.kill(workers[0] as number, 'SIGKILL');
    await creating;
    expect(await creationsIn(port)).toBeGreaterThan(20);
    const { msg, signal } = JSON.parse((await running.says(/^.*a worker ended.*$/m))[0]);
    expect({ msg, signal }).toEqual({ msg: 'a worker ended; it is started again', signal: 'SIGKILL' });
    expect(await workersOf(running, 2)).not.toEqual(workers);

    const client = createClient({ url: `http://127.0.0.1:${port}/v1`, key: KEY });
    let stored = 0;
    for await (const _ of client.allPets()) stored += 1;
    expect(stored).toBe(220);
  });

  test('starts a worker again until the system can start a process, and stops', async () => {
    const running = start();
    await listeningAt(running);
    const workers = await workersOf(running, 2);
    const limitFiles = (limit: number) =>
      execFileSync('prlimit', [`--pid=${running.process.pid}`, `--nofile=${limit}:`]);
    limitFiles(10);
    process.kill(workers[1] as number, 'SIGKILL');
    await running.says(/"code":"EMFILE","signal":null,"restartsAfter":400/);
    limitFiles(1_000);
    await workersOf(running, 2);
    running.process.kill('SIGTERM');
    expect(await running.exit).toBe(0);
    expect(running.output.out).toMatch(/"msg":"stopped"/);
    expect(running.output.err).toBe('');
  });

  test('ends with the process that supervises', async () => {
    const running = start();
    await listeningAt(running);
    const workers = await workersOf(running, 2);
    running.process.kill('SIGKILL');
    await expect.poll(() => workers.map(isAlive), { timeout: 30_000 }).toEqual([false, false]);
  });

  test('closes connections beyond MAX_CONNECTIONS of each worker', async () => {
    const running = start({ MAX_CONNECTIONS: '1' });
    const port = await listeningAt(running);
    await workersOf(running, 2);
    await running.says(/"workers":2/);
    let closed = 0;
    for (let index = 0; index < 6; index += 1) {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      socket.on('close', () => {
        closed += 1;
      });
      onTestFinished(() => void socket.destroy());
    }
    await expect.poll(() => closed).toBeGreaterThanOrEqual(4);
  });

  test('stops if the signal comes while workers start', async () => {
    const running = start();
    await workersOf(running, 1);
    running.process.kill('SIGTERM');
    expect(await running.exit).toBe(0);
  });

  test.each([0, 1])('reports a port that is in use once, and ends with code 2 (ports of probes: %i)', async (count) => {
    const port = await freePort();
    const other = createServer().listen(port, '127.0.0.1');
    onTestFinished(() => void other.close());
    const probePort = count === 0 ? 0 : await freePort();
    const { exit, output } = start({ PORT: String(port), PROBE_PORT: String(probePort) });
    expect(await exit).toBe(2);
    expect(output.err).toBe(
      `animal-store: can't listen at 127.0.0.1, port ${port}: it is in use; choose another PORT\n`,
    );
  });
});

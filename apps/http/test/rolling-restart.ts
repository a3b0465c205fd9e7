import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { freePort, KEY, serviceAt } from './service.ts';
import { listeningAt, type Running, startProcess } from './service-process.ts';

/** How many restarts there are: one of each instance; the environment can ask for more. */
export const RESTARTS = Number(process.env['ROLLING_RESTARTS'] ?? 2);

/** How long a restart takes at most with default settings, in milliseconds. */
export const RESTART_TIME = 25_000;

/** Two instances of the service, whose ports stay the same when they are restarted. */
export interface Instances {
  readonly ports: readonly [number, number];
  /** Restarts the instance 0 or 1 when the load balancer sends requests to both. */
  restart(index: number): Promise<void>;
}

export async function startInstances(): Promise<Instances> {
  const ports: [number, number] = [await freePort(), await freePort()];
  const start = async (port: number): Promise<Running> => {
    const running = startProcess({ API_KEYS: KEY, PORT: String(port), NODE_ENV: 'production', STORAGE: 'memory' });
    await listeningAt(running);
    return running;
  };
  const running = await Promise.all(ports.map(start));
  return {
    ports,
    async restart(index) {
      const old = running[index] as Running;
      await Promise.all(running.map(({ says }) => says(/"\/v1\/pets"/)));
      old.process.kill('SIGTERM');
      expect(await old.exit).toBe(0);
      running[index] = await start(ports[index] as number);
    },
  };
}

/**
 * Restarts the instances in turn while clients send requests to a load balancer.
 *
 * @returns How many responses of each status there were. Failed requests have the error's message instead.
 */
export async function restartUnderLoad(
  { restart }: Instances,
  balancer: number,
): Promise<Map<number | string, number>> {
  const { add, call } = serviceAt(balancer);
  const counts = new Map<number | string, number>();
  let loading = true;
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (let turn = client; loading; turn += 1) {
      const key = `${client}-${turn}`;
      const response =
        turn % 2 === 0 ? call('GET', '/v1/pets') : add({ name: 'Rex', categoryId: 1 }, { 'idempotency-key': key });
      const result = await response.then(
        ({ status }) => status,
        ({ message }: Error) => message,
      );
      counts.set(result, (counts.get(result) ?? 0) + 1);
      // The rate of a client: it waits for nothing.
      await sleep(5);
    }
  });
  for (let count = 0; count < RESTARTS; count += 1) {
    await restart(count % 2);
  }
  loading = false;
  await Promise.all(clients);
  return counts;
}

import { ADAPTERS } from '@animal-store/app-kit';
import { onFreePorts } from '@animal-store/test-kit/free-ports';
import { expect, onTestFinished, test } from 'vitest';
import { KEY, serviceAt } from './service.ts';
import { startProcess } from './service-process.ts';

const DURABLE = Object.entries(ADAPTERS).flatMap(([name, adapter]) =>
  'variable' in adapter ? [[name, adapter.variable.name] as const] : [],
);

test.for(DURABLE)(
  '%s shows a pet to another process at once, and keeps it when both have ended',
  async ([name, variable]) => {
    // It skips the test if there is no server.
    const { freshPlace } = await import(`../../../packages/adapter-${name}/test/fresh-place.ts`);
    const environment = { [variable]: freshPlace(), API_KEYS: KEY };
    const [one, other] = [startProcess(environment), startProcess(environment)];
    const [first, second] = [await one.listens(), await other.listens()];
    // A busy server creates a new database more slowly than a call may take.
    for (const { call } of [first, second])
      await expect.poll(async () => (await call('GET', '/readyz')).status).toBe(200);
    for (let count = 0; count < 20; count += 1) {
      const [writer, reader] = count % 2 === 0 ? [first, second] : [second, first];
      const pet = { name: `Rex ${count}`, categoryId: 2 ** 40, ...(count % 3 === 0 && { status: 'sold' }) };
      const named = { 'idempotency-key': `k${count}` };
      const added = await writer.add(pet, named);
      const seen = await reader.call('GET', String(added.headers.location));
      expect([seen.status, seen.text]).toEqual([200, added.text]);
      const again = await reader.add(pet, named);
      expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([201, added.text, 'true']);
    }
    one.process.kill('SIGKILL');
    other.process.kill('SIGTERM');
    expect(await other.exit).toBe(0);
    expect(one.output.err + other.output.err).toBe('');
    const { call } = await startProcess(environment).listens();
    expect((await call('GET', '/v1/pets')).json).toHaveLength(20);
    expect((await call('GET', '/v1/pets?status=sold')).json).toHaveLength(7);
  },
);

test.for(DURABLE)('%s makes no service ready that will end because no API key exists', async ([name, variable]) => {
  const { freshPlace } = await import(`../../../packages/adapter-${name}/test/fresh-place.ts`);
  await onFreePorts(1, async (port) => {
    const { exit, output } = startProcess({
      [variable]: freshPlace(),
      NODE_ENV: 'production',
      PORT: String(port),
    });
    const statuses = new Set<number>();
    const probe = () => serviceAt(port).call('GET', '/readyz', { key: null });
    const probes = setInterval(() => {
      probe().then(
        ({ status }) => statuses.add(status),
        () => {},
      );
    }, 2);
    onTestFinished(() => clearInterval(probes));
    expect(await exit).toBe(2);
    expect(output.err).toMatch(/there is no API key/);
    expect([...statuses].filter((status) => status !== 503)).toEqual([]);
  });
});

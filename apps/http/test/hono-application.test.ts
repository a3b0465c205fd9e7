import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import { createCatalogue } from '@animal-store/domain';
import { serve } from '@hono/node-server';
import { expect, onTestFinished, test } from 'vitest';
import { createApp } from '../src/app/app.ts';

test('serves requests of a server that knows nothing of it, as @hono/node-server', async () => {
  const authenticate = async () => ({ id: 'key', holder: 'holder' });
  const app = createApp({ catalogue: createCatalogue(createMemoryStorage().pets), authenticate });
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/pets`, {
    method: 'POST',
    headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
    body: '{"name":"Rex","categoryId":1}',
  });
  expect([response.status, await response.json()]).toEqual([201, { id: 1, name: 'Rex', categoryId: 1 }]);
});

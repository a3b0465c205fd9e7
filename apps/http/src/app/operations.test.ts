import { createMemoryStorage } from '@animal-store/adapter-memory';
import { createCatalogue } from '@animal-store/domain';
import { expect, test, vi } from 'vitest';
import { createApp } from './app.ts';
import { createRecorder } from './exchange.ts';
import type { Operation } from './pets/operation.ts';
import type { RequestRecord } from './record.ts';

// An operation whose path getPet's path matches, too.
vi.mock(import('./pets/list-pets.ts'), () => ({
  listPets: (): Operation => ({
    ...{ method: 'get', path: '/pets/count', handle: () => ({ status: 200, headers: {}, body: '7' }) },
    headers: { 'X-Count': { value: 'yes', description: 'Of this operation.' } },
    description: { operationId: 'countPets', summary: 'Count', description: 'Counts.', parameters: [], responses: {} },
  }),
}));

test.for([
  ['/v1/pets/count', 'key', 200, '/v1/pets/count', ['x-count']],
  ['/v1/pets/count', 'wrong', 401, '/v1/pets/count', ['x-count']],
  ['/v1/pets/7', 'key', 404, '/v1/pets/:petId', ['deprecation', 'link', 'sunset']],
  ['/v1/pets/7', 'wrong', 401, '/v1/pets/:petId', ['deprecation', 'link', 'sunset']],
] as const)('%s with the key %j, %d, has the fields and the route of the first operation that matches', async (row) => {
  const [path, key, status, route, names] = row;
  const records: Readonly<RequestRecord>[] = [];
  const app = createApp({
    catalogue: createCatalogue(createMemoryStorage().pets),
    authenticate: async (given) => (given === 'key' ? { id: 'id', holder: 'zoo' } : null),
    recorder: createRecorder({ observers: [(record) => records.push(record)] }),
  });
  const response = await app.request(path, { headers: { authorization: `Bearer ${key}` } });
  const fields = ['deprecation', 'link', 'sunset', 'x-count'].filter((name) => response.headers.has(name));
  expect([response.status, fields]).toEqual([status, names]);
  expect(records).toMatchObject([{ route, status }]);
});

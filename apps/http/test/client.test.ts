import { createClient, type ErrorCode } from '@animal-store/client';
import { expect, expectTypeOf, vi } from 'vitest';
import type { ErrorCode as ServiceErrorCode } from '../src/app/errors.ts';
import { KEY, test } from './service.ts';

test('the client has the codes of the service and two more', () => {
  expectTypeOf<ErrorCode>().toEqualTypeOf<ServiceErrorCode | 'no_response' | 'unexpected_response'>();
});

test('the client creates, reads and lists pets with exact integers', async ({ service: { port } }) => {
  const onDeprecation = vi.fn();
  const client = createClient({ url: `http://127.0.0.1:${port}/v1`, key: KEY, onDeprecation });
  const rex = await client.createPet({ name: 'Rex', categoryId: 2n ** 63n - 1n, status: 'sold' });
  const max = await client.createPet({ name: 'Мурка', categoryId: -(2n ** 63n) });
  expect([rex, max]).toMatchObject([{ categoryId: 2n ** 63n - 1n }, { name: 'Мурка', categoryId: -(2n ** 63n) }]);
  expect(await client.getPet(max.id)).toEqual(max);
  expect(onDeprecation).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('05 Dec 2030'));
  expect(await client.listPets({ status: 'sold' })).toEqual({ pets: [rex], next: null });
  const { pets, next } = await client.listPets({ limit: 1 });
  const all = [...pets];
  for await (const pet of client.allPets({ cursor: next })) all.push(pet);
  expect(all).toEqual([rex, max]);
});

test('the service keeps the request id of the client', async ({ service: { port } }) => {
  const sent: unknown[] = [];
  const client = createClient({
    url: `http://127.0.0.1:${port}/v1`,
    key: KEY,
    fetch: (input, init) => {
      sent.push(new Headers(init?.headers).get('x-request-id'));
      return fetch(input, init);
    },
  });
  const { status, requestId } = await client.listPets({ limit: 0 }).catch((error) => error);
  expect([status, sent]).toEqual([400, [requestId]]);
});

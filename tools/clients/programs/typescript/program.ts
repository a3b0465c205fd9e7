import createClient from 'openapi-fetch';
import type { paths } from './animals.js';

const { BASE_URL = '', API_KEY = '' } = process.env;
const clientWith = (key: string) =>
  createClient<paths>({ baseUrl: BASE_URL, headers: { Authorization: `Bearer ${key}` } });
const client = clientWith(API_KEY);

const createRex = (name = 'Rex') =>
  client.POST('/pets', {
    params: { header: { 'Idempotency-Key': 'first' } },
    body: { name, categoryId: 42, status: 'available' },
  });

const { data: created } = await createRex();
const { data: repeated } = await createRex();
for (let count = 2; count <= 5; count += 1) {
  await client.POST('/pets', { body: { name: `Pet ${count}`, categoryId: -count } });
}

const pages: number[][] = [];
let cursor: string | undefined;
do {
  const { data, response } = await client.GET('/pets', { params: { query: { limit: 2, ...(cursor && { cursor }) } } });
  pages.push((data ?? []).map(({ id }) => id));
  const next = /<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  cursor = next && (new URL(next, response.url).searchParams.get('cursor') as string);
} while (cursor);

const failures = [
  await client.GET('/pets', { params: { query: { cursor: 'no cursor' } } }),
  await clientWith('not-a-key-of-anyone').GET('/pets'),
  await client.GET('/pets/{petId}', { params: { path: { petId: 999 } } }),
  await createRex('Max'),
];
const errors = failures.map(({ error }) => `${error?.status} ${error?.code}`);
console.log(JSON.stringify({ created, repeated, pages, errors }));

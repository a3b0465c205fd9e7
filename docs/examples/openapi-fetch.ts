import createClient from 'openapi-fetch';
import type { paths } from './animals.d.ts';

const { BASE_URL = '', API_KEY = '' } = process.env;
const client = createClient<paths>({ baseUrl: BASE_URL, headers: { Authorization: `Bearer ${API_KEY}` } });

async function* allPets() {
  let cursor: string | null = null;
  do {
    const query: { limit: number; cursor?: string } = cursor === null ? { limit: 100 } : { limit: 100, cursor };
    const { data, error, response } = await client.GET('/pets', { params: { query } });
    if (error) throw new Error(error.message);
    yield* data;
    const next = /<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    cursor = next === undefined ? null : new URL(next, response.url).searchParams.get('cursor');
  } while (cursor !== null);
}

const pets = [];
for await (const pet of allPets()) pets.push(pet);
console.log(pets.length);

import { client } from './animals/client.gen.js';
import { type ApiError, createPet, getPet, listPets, type Pet } from './animals/index.js';
import { exactBody, exactFetch } from './exact-fetch.js';

const { BASE_URL = '', API_KEY = '' } = process.env;
client.setConfig({ baseUrl: BASE_URL, auth: API_KEY, fetch: exactFetch, bodySerializer: exactBody });

const createRex = (name = 'Rex') =>
  createPet({
    headers: { 'Idempotency-Key': 'first' },
    body: { name, categoryId: 9223372036854775807n, status: 'available' },
  });

const { data: created } = await createRex();
const { data: repeated } = await createRex();
for (let count = 2; count <= 5; count += 1) {
  await createPet({ body: { name: `Pet ${count}`, categoryId: BigInt(-count) } });
}

const pages: bigint[][] = [];
let cursor: string | undefined;
do {
  const { data = [], request, response } = await listPets({ query: { limit: 2, ...(cursor && { cursor }) } });
  pages.push(data.map(({ id }: Pet) => id));
  const next = /<([^>]*)>; rel="next"/.exec(response?.headers.get('link') ?? '')?.[1];
  cursor = next && (new URL(next, request?.url).searchParams.get('cursor') as string);
} while (cursor);

const failures: { error?: ApiError }[] = [
  await listPets({ query: { cursor: 'no cursor' } }),
  await listPets({ auth: 'not-a-key-of-anyone' }),
  await getPet({ path: { petId: 999n } }),
  await createRex('Max'),
];
const errors = failures.map(({ error }) => `${error?.status} ${error?.code}`);
console.log(exactBody({ created, repeated, pages, errors }));

import { type ApiError, Configuration, PetStatus, PetsApi, ResponseError } from './animals/index.js';

const { BASE_URL = '', API_KEY = '' } = process.env;
const petsWith = (accessToken: string) => new PetsApi(new Configuration({ basePath: BASE_URL, accessToken }));
const pets = petsWith(API_KEY);

const createRex = (name = 'Rex') =>
  pets.createPet({ newPet: { name, categoryId: 42, status: PetStatus.Available }, idempotencyKey: 'first' });

/** The error of a call that has to fail. */
async function errorOf(call: Promise<unknown>): Promise<string> {
  const failure = await call.then(
    () => null,
    (error) => error,
  );
  if (!(failure instanceof ResponseError)) throw new Error('the call succeeded', { cause: failure });
  const { code, status } = (await failure.response.json()) as ApiError;
  return `${status} ${code}`;
}

const created = await createRex();
const repeated = await createRex();
for (let count = 2; count <= 5; count += 1) {
  await pets.createPet({ newPet: { name: `Pet ${count}`, categoryId: -count } });
}

const pages: number[][] = [];
let cursor: string | undefined;
do {
  const response = await pets.listPetsRaw({ limit: 2, ...(cursor && { cursor }) });
  pages.push((await response.value()).map(({ id }) => id));
  const next = /<([^>]*)>; rel="next"/.exec(response.raw.headers.get('link') ?? '')?.[1];
  cursor = next && (new URL(next, response.raw.url).searchParams.get('cursor') as string);
} while (cursor);

const errors = [
  await errorOf(pets.listPets({ cursor: 'no cursor' })),
  await errorOf(petsWith('not-a-key-of-anyone').listPets()),
  await errorOf(pets.getPet({ petId: 999 })),
  await errorOf(createRex('Max')),
];
console.log(JSON.stringify({ created, repeated, pages, errors }));

// The catalogue as one would write it with Fastify: schemas for what comes in and goes out, a hook for the key. It has no
// exact 64-bit integers, digests, idempotency or pages.
import Fastify from 'fastify';
import { type Animal, KEY } from './catalogue.ts';
import { newPet, pet, query } from './fastify-schemas.ts';

const animals: Animal[] = [];
const app = Fastify();
app.addHook('onRequest', async (request, reply) => {
  if (request.headers.authorization !== `Bearer ${KEY}`) await reply.code(401).send({ code: 'unauthorized' });
});
app.get<{ Querystring: { limit: number; status?: string } }>(
  '/v1/pets',
  { schema: { querystring: query, response: { 200: { type: 'array', items: pet } } } },
  async ({ query: { limit, status } }) =>
    (status === undefined ? animals : animals.filter((animal) => animal.status === status)).slice(0, limit),
);
app.get<{ Params: { petId: number } }>(
  '/v1/pets/:petId',
  { schema: { params: { type: 'object', properties: { petId: { type: 'integer' } } }, response: { 200: pet } } },
  async ({ params }, reply) => animals[params.petId - 1] ?? reply.code(404).send({ code: 'pet_not_found' }),
);
app.post<{ Body: Omit<Animal, 'id'> }>(
  '/v1/pets',
  { schema: { body: newPet, response: { 201: pet } } },
  async ({ body }, reply) => {
    const animal = { id: animals.length + 1, ...body };
    animals.push(animal);
    return reply.code(201).send(animal);
  },
);
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));

// The catalogue on MongoDB as one would write it with Fastify and the driver: schemas for what comes in and goes out, a hook
// for the key, one command of the driver for each request. It writes to the majority, as it must; it has no exact 64-bit
// integers, digests, idempotency or pages.
import Fastify from 'fastify';
import { MongoClient } from 'mongodb';
import { type Animal, KEY } from './catalogue.ts';
import { newPet, pet, query } from './fastify-schemas.ts';

interface Stored extends Omit<Animal, 'id'> {
  _id: number;
}

const client = new MongoClient(process.env['MONGODB_URL'] as string, {
  writeConcern: { w: 'majority', journal: true },
});
const animals = client.db().collection<Stored>('pets');
const counters = client.db().collection<{ _id: string; last: number }>('counters');
await animals.createIndex({ status: 1, _id: 1 });

const quote = ({ _id, ...rest }: Stored) => ({ id: _id, ...rest });

const app = Fastify();
app.addHook('onRequest', async (request, reply) => {
  if (request.headers.authorization !== `Bearer ${KEY}`) await reply.code(401).send({ code: 'unauthorized' });
});
app.get<{ Querystring: { limit: number; status?: string } }>(
  '/v1/pets',
  { schema: { querystring: query, response: { 200: { type: 'array', items: pet } } } },
  async ({ query: { limit, status } }) => {
    const found = animals.find(status === undefined ? {} : { status }, { sort: { _id: 1 }, limit, batchSize: limit });
    return (await found.toArray()).map(quote);
  },
);
app.get<{ Params: { petId: number } }>(
  '/v1/pets/:petId',
  { schema: { params: { type: 'object', properties: { petId: { type: 'integer' } } }, response: { 200: pet } } },
  async ({ params }, reply) => {
    const found = await animals.findOne({ _id: params.petId });
    return found === null ? reply.code(404).send({ code: 'pet_not_found' }) : quote(found);
  },
);
app.post<{ Body: Omit<Animal, 'id'> }>(
  '/v1/pets',
  { schema: { body: newPet, response: { 201: pet } } },
  async ({ body }, reply) => {
    const counter = await counters.findOneAndUpdate(
      { _id: 'pets' },
      { $inc: { last: 1 } },
      { upsert: true, returnDocument: 'after' },
    );
    const stored = { _id: counter?.last as number, ...body };
    await animals.insertOne(stored);
    return reply.code(201).send(quote(stored));
  },
);
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));

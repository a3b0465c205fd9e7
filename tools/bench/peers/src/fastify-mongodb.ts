// The catalogue on MongoDB with Fastify and the official driver: schemas for requests and responses, a hook for the key,
// one command of the driver for each request. Writes are acknowledged by the majority, as the service's are.
import Fastify from 'fastify';
import { MongoClient } from 'mongodb';
import { listQuery, newPet, pet, petParams, pets as petsSchema } from './fastify-schemas.ts';
import { fromDocument, KEY, type NewPet, type PetDocument, type PetStatus } from './pets.ts';

const client = new MongoClient(process.env['MONGODB_URL'] as string, {
  writeConcern: { w: 'majority', journal: true },
});
const pets = client.db().collection<PetDocument>('pets');
const counters = client.db().collection<{ _id: string; last: number }>('counters');
await pets.createIndex({ status: 1, _id: 1 });

const app = Fastify();
app.addHook('onRequest', async (request, reply) => {
  if (request.headers.authorization !== `Bearer ${KEY}`) await reply.code(401).send({ code: 'unauthorized' });
});
app.get<{ Querystring: { limit: number; status?: PetStatus } }>(
  '/v1/pets',
  { schema: { querystring: listQuery, response: { 200: petsSchema } } },
  async ({ query: { limit, status } }) => {
    const found = pets.find(status === undefined ? {} : { status }, { sort: { _id: 1 }, limit, batchSize: limit });
    return (await found.toArray()).map(fromDocument);
  },
);
app.get<{ Params: { petId: number } }>(
  '/v1/pets/:petId',
  { schema: { params: petParams, response: { 200: pet } } },
  async ({ params }, reply) => {
    const found = await pets.findOne({ _id: params.petId });
    return found === null ? reply.code(404).send({ code: 'pet_not_found' }) : fromDocument(found);
  },
);
app.post<{ Body: NewPet }>(
  '/v1/pets',
  { schema: { body: newPet, response: { 201: pet } } },
  async ({ body }, reply) => {
    const counter = await counters.findOneAndUpdate(
      { _id: 'pets' },
      { $inc: { last: 1 } },
      { upsert: true, returnDocument: 'after' },
    );
    const created: PetDocument = { _id: counter?.last as number, ...body };
    await pets.insertOne(created);
    return reply.code(201).send(fromDocument(created));
  },
);
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));

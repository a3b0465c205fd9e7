// The catalogue in memory with Fastify: schemas for requests and responses, a hook for the key, no log.
// With EQUIPPED it does for each request what the service does too, as its documentation suggests: a line of log, a
// histogram of durations, a request id, security headers, a digest of the key.
import { hash, randomUUID } from 'node:crypto';
import Fastify, { LogController } from 'fastify';
import { Histogram, Registry } from 'prom-client';
import { listQuery, newPet, pet, petParams, pets as petsSchema } from './fastify-schemas.ts';
import { KEY, type NewPet, type Pet } from './pets.ts';

const pets: Pet[] = [];
const equipped = process.env['EQUIPPED'] !== undefined;
const app = Fastify(
  equipped
    ? {
        logger: { level: 'info' },
        logController: new LogController({ disableRequestLogging: true }),
        genReqId: () => randomUUID(),
      }
    : {},
);
const digest = (text: string) => hash('sha256', text);
const credentials = equipped ? digest(`Bearer ${KEY}`) : `Bearer ${KEY}`;
app.addHook('onRequest', async (request, reply) => {
  const { authorization = '' } = request.headers;
  if ((equipped ? digest(authorization) : authorization) !== credentials) {
    await reply.code(401).send({ code: 'unauthorized' });
  }
});
if (equipped) {
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Durations',
    labelNames: ['method', 'route', 'status'],
    registers: [new Registry()],
  });
  app.addHook('onSend', async (request, reply) => {
    reply.headers({
      'x-request-id': request.id,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    });
  });
  app.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions } = request;
    const route = routeOptions.url ?? 'unmatched';
    durations.observe({ method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
    request.log.info({ method, route, status: reply.statusCode, duration: reply.elapsedTime }, 'request');
  });
}
app.get<{ Querystring: { limit: number; status?: string } }>(
  '/v1/pets',
  { schema: { querystring: listQuery, response: { 200: petsSchema } } },
  async ({ query: { limit, status } }) =>
    (status === undefined ? pets : pets.filter((one) => one.status === status)).slice(0, limit),
);
app.get<{ Params: { petId: number } }>(
  '/v1/pets/:petId',
  { schema: { params: petParams, response: { 200: pet } } },
  async ({ params }, reply) => pets[params.petId - 1] ?? reply.code(404).send({ code: 'pet_not_found' }),
);
app.post<{ Body: NewPet }>(
  '/v1/pets',
  { schema: { body: newPet, response: { 201: pet } } },
  async ({ body }, reply) => {
    const created: Pet = { id: pets.length + 1, ...body };
    pets.push(created);
    return reply.code(201).send(created);
  },
);
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));

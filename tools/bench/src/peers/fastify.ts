// The catalogue as one would write it with Fastify: schemas for what comes in and goes out, a hook for the key. It has no
// exact 64-bit integers, idempotency or pages. With EQUIPPED it does for each request what the service does, too, as its
// documentation suggests it: a line of log, a histogram of durations, a request id, security headers, a digest of the key.
import { hash, randomUUID } from 'node:crypto';
import Fastify, { LogController } from 'fastify';
import { Histogram, Registry } from 'prom-client';
import { type Animal, KEY } from './catalogue.ts';
import { newPet, pet, query } from './fastify-schemas.ts';

const animals: Animal[] = [];
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

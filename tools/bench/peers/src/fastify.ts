// The catalogue with Fastify, in memory or on the database that STORAGE names: schemas for requests and responses, a hook
// for the key, no log. With EQUIPPED it adds features of the service, as its documentation suggests: a line of log, a
// histogram of durations, a request id, security headers, a digest of the key.
import { hash, randomUUID } from 'node:crypto';
import Fastify, { LogController } from 'fastify';
import { Histogram, Registry } from 'prom-client';
import { type NewPet, table } from './tables.ts';

/** The API key that every server of a run accepts. */
const KEY = process.env['API_KEYS'] as string;

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

const status = { type: 'string', enum: ['available', 'pending', 'sold'] };
const newPet = {
  type: 'object',
  required: ['name', 'categoryId'],
  properties: { name: { type: 'string', minLength: 1, maxLength: 200 }, categoryId: { type: 'integer' }, status },
};
const pet = { ...newPet, properties: { id: { type: 'integer' }, ...newPet.properties } };
const listQuery = {
  type: 'object',
  properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 }, status },
};
const petParams = { type: 'object', properties: { petId: { type: 'integer' } } };

app.get<{ Querystring: { limit: number; status?: NewPet['status'] } }>(
  '/v1/pets',
  { schema: { querystring: listQuery, response: { 200: { type: 'array', items: pet } } } },
  async ({ query }) => table.list(query.limit, query.status),
);
app.get<{ Params: { petId: number } }>(
  '/v1/pets/:petId',
  { schema: { params: petParams, response: { 200: pet } } },
  async ({ params }, reply) => (await table.get(params.petId)) ?? reply.code(404).send({ code: 'pet_not_found' }),
);
app.post<{ Body: NewPet }>('/v1/pets', { schema: { body: newPet, response: { 201: pet } } }, async ({ body }, reply) =>
  reply.code(201).send(await table.create(body)),
);
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));

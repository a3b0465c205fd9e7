import { Validator } from '@seriousme/openapi-schema-validator';
import * as fc from 'fast-check';
import Schema from 'typebox/schema';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { ERROR_STATUS } from '../src/http/http-error.ts';
import { OTHER_KEY, type Reply, type Service, startService, test } from './service.ts';

interface Described {
  description?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, { schema: object; example?: unknown }>;
}
interface OperationObject {
  operationId: string;
  deprecated?: boolean;
  security?: unknown[];
  parameters?: { name: string; in: string; required?: boolean; schema: Record<string, unknown> }[];
  requestBody?: { required: boolean; content: Record<string, { schema: object; example: unknown }> };
  responses: Record<string, Described>;
}
interface Document {
  openapi: string;
  servers: { url: string }[];
  security: object[];
  paths: Record<string, { get?: OperationObject; post?: OperationObject }>;
  components: { schemas: Record<string, Record<string, unknown>>; securitySchemes: Record<string, unknown> };
}

async function documentOf({ call }: Service): Promise<{ document: Document; text: string }> {
  const { text, json } = await call('GET', '/openapi.json', { key: null });
  return { document: json as Document, text };
}

/** Follows references within the document. */
function resolve<T>(document: Document, value: T | { $ref: string }): T {
  if (typeof value !== 'object' || value === null || !('$ref' in value)) return value as T;
  const path = value.$ref.split('/').slice(1);
  return path.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], document) as T;
}

/** Whether a value is what a schema of the document says. */
function accepts(document: Document, schema: object, value: unknown): boolean {
  const { components } = document;
  return Schema.Compile({ ...schema, components } as object).Check(value);
}

/** Fields that a client may want to act upon. */
const TELLING_FIELDS = ['link', 'location', 'deprecation', 'sunset', 'www-authenticate', 'retry-after', 'ratelimit'];

/** Checks a response against what the document says of the operation, and names the response it fell under. */
function checkReply(document: Document, operation: OperationObject, reply: Reply): string {
  const name = String(reply.status) in operation.responses ? String(reply.status) : 'default';
  const response = resolve<Described>(document, operation.responses[name] as Described);
  const media = response.content?.['application/json'];
  expect(reply.headers['content-type']).toBe('application/json');
  expect(
    accepts(document, media?.schema as object, reply.json),
    `${operation.operationId} ${reply.status} ${reply.text}`,
  ).toBe(true);
  for (const [header, given] of Object.entries(response.headers ?? {})) {
    if (!resolve<{ required: boolean }>(document, given as { required: boolean }).required) continue;
    expect(reply.headers[header.toLowerCase()], `${operation.operationId} ${reply.status} ${header}`).toBeDefined();
  }
  const described = Object.keys(response.headers ?? {}).map((header) => header.toLowerCase());
  for (const field of TELLING_FIELDS.filter((field) => reply.headers[field] !== undefined)) {
    expect(described, `${operation.operationId} ${reply.status}`).toContain(field);
  }
  return name;
}

describe('the document', () => {
  test('is valid OpenAPI 3.1', async () => {
    const { document } = await documentOf(await startService());
    expect(document.openapi).toMatch(/^3\.1\./);
    const result = await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>);
    expect(result).toMatchObject({ valid: true });
  });

  test('is loaded again if it could not be loaded', async ({ service: { call } }) => {
    vi.doMock('../src/openapi/document.ts', () => {
      throw new Error('too many open files');
    });
    onTestFinished(() => void vi.doUnmock('../src/openapi/document.ts'));
    expect((await call('GET', '/openapi.json', { key: null })).status).toBe(500);
    vi.doUnmock('../src/openapi/document.ts');
    expect((await call('GET', '/openapi.json', { key: null })).status).toBe(200);
  });

  test('has its operations, and only them, under the base path', async () => {
    const { document } = await documentOf(await startService({ BASE_PATH: '/shop/v1' }));
    expect(document.servers).toEqual([expect.objectContaining({ url: '/shop/v1' })]);
    const operations = Object.entries(document.paths).flatMap(([path, { get, post }]) => [
      `get ${path} ${get?.operationId}`,
      ...(post ? [`post ${path} ${post.operationId}`] : []),
    ]);
    expect(operations).toEqual(['get /pets listPets', 'post /pets createPet', 'get /pets/{petId} getPet']);
  });

  test('requires the bearer key, marks getPet as deprecated, and has int64 and the closed sets', async () => {
    const { document, text } = await documentOf(await startService());
    const { components, paths, security } = document;
    expect(security).toEqual([{ apiKey: [] }]);
    expect(components.securitySchemes).toEqual({ apiKey: expect.objectContaining({ type: 'http', scheme: 'bearer' }) });
    expect(paths['/pets/{petId}']?.get?.deprecated).toBe(true);
    expect(paths['/pets']?.get?.deprecated).toBeUndefined();
    expect(components.schemas['PetStatus']).toMatchObject({ type: 'string', enum: ['available', 'pending', 'sold'] });
    expect(components.schemas['Error']).toMatchObject({
      required: ['code', 'message', 'status'],
      additionalProperties: false,
      properties: { code: { enum: Object.keys(ERROR_STATUS) } },
    });
    expect(components.schemas['NewPet']).toMatchObject({
      required: ['name', 'categoryId'],
      properties: { categoryId: { type: 'integer', format: 'int64' } },
    });
    expect(components.schemas['Pet']).toMatchObject({ required: ['id', 'name', 'categoryId'] });
    expect(components.schemas['Pet']).toMatchObject({ properties: { id: { maximum: 2 ** 53 - 1 } } });
    // The bounds digit for digit, which JSON.parse has rounded above.
    expect(text).toContain('"format":"int64","minimum":-9223372036854775808,"maximum":9223372036854775807');
    expect(paths['/pets']?.get?.parameters?.[0]).toMatchObject({
      name: 'limit',
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    });
  });

  test('has examples that match their schemas', async () => {
    const { document } = await documentOf(await startService());
    let examples = 0;
    const walk = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      if ('schema' in value && 'example' in value) {
        examples += 1;
        expect(accepts(document, value.schema as object, value.example), JSON.stringify(value)).toBe(true);
      }
      Object.values(value).forEach(walk);
    };
    walk(document);
    expect(examples).toBeGreaterThan(8);
    // Generators for TypeScript and mock servers can't hold the extremes of 64 bits.
    expect(JSON.stringify(document)).not.toMatch(/"example":[^}]*\d{16}/);
  });
});

describe('the service does what the document says', () => {
  // A shared count that takes more than 500 ms is replaced by the count of the process.
  test('words errors as the examples do', { retry: 2 }, async () => {
    const time = { now: Date.now() };
    const service = await startService({ BASE_PATH: '/shop/v1', RATE_LIMIT: '600' }, { clock: () => time.now });
    const { document } = await documentOf(service);
    const { call } = service;
    // The database is open before the first count.
    await expect.poll(async () => (await call('GET', '/readyz', { key: null })).status).toBe(200);
    const json = { 'content-type': 'application/json' };
    const rex = '{"name":"Rex","categoryId":7}';
    const post = (body: string, headers: Record<string, string> = json) =>
      call('POST', '/shop/v1/pets', { headers, body });
    const check = (path: string, method: 'get' | 'post', { status, json }: Reply, name = String(status)) => {
      const response = document.paths[path]?.[method]?.responses[name] as Described;
      const { example } = Object.values(resolve<Described>(document, response).content ?? {})[0] as { example: object };
      // The number of seconds to wait varies.
      const comparable = (error: unknown) => JSON.stringify(error).replace(/in \d+ s"/, 'in n s"');
      expect([path, method, comparable(json)]).toEqual([path, method, comparable(example)]);
    };
    check('/pets', 'post', await post('{}'));
    check('/pets', 'post', await post(rex, { 'content-type': 'text/plain' }));
    check('/pets', 'post', await post(' '.repeat(70_000)));
    check('/pets', 'post', await call('POST', '/shop/v1/pets', { key: null, headers: json, body: rex }));
    await post(rex, { ...json, 'idempotency-key': 'k' });
    check('/pets', 'post', await post('{"name":"Max","categoryId":7}', { ...json, 'idempotency-key': 'k' }));
    check('/pets/{petId}', 'get', await call('GET', '/shop/v1/pets/7'));
    check('/pets/{petId}', 'get', await call('GET', '/shop/v1/pets/7', { key: null }));
    check('/pets', 'get', await call('GET', '/nothing'), 'default');
    for (let count = 0; count < 600; count += 1) await call('GET', '/shop/v1/pets/7');
    check('/pets', 'get', await call('GET', '/shop/v1/pets'));
    time.now = Date.UTC(2030, 11, 5);
    check('/pets/{petId}', 'get', await call('GET', '/shop/v1/pets/7', { key: OTHER_KEY }));
  });

  test('returns every response of every operation, and no other', async () => {
    const time = { now: Date.now() };
    const service = await startService({}, { clock: () => time.now });
    const { document } = await documentOf(service);
    const json = { 'content-type': 'application/json' };
    const rex = '{"name":"Rex","categoryId":7,"status":"sold"}';
    const seen = new Map<string, Set<string>>();
    const check = async (path: string, method: string, reply: Promise<Reply>) => {
      const operation = document.paths[path]?.[method.toLowerCase() as 'get' | 'post'] as OperationObject;
      const responses = seen.get(operation.operationId) ?? new Set();
      seen.set(operation.operationId, responses.add(checkReply(document, operation, await reply)));
    };
    const { call, add } = service;
    for (const reply of [add(rex), add('{}'), add(rex, { 'content-type': 'text/plain' }), add(' '.repeat(70_000))]) {
      await check('/pets', 'POST', reply);
    }
    await check('/pets', 'POST', call('POST', '/v1/pets', { key: null, headers: json, body: rex }));
    await check('/pets', 'POST', add(rex, { 'idempotency-key': 'k' }));
    await check('/pets', 'POST', add('{"name":"Max","categoryId":7}', { 'idempotency-key': 'k' }));
    for (const path of ['/v1/pets', '/v1/pets?limit=1&status=sold', '/v1/pets?limit=0']) {
      await check('/pets', 'GET', call('GET', path));
    }
    await check('/pets', 'GET', call('GET', '/v1/pets', { key: null }));
    for (const id of ['1', '999999', 'x']) await check('/pets/{petId}', 'GET', call('GET', `/v1/pets/${id}`));
    await check('/pets/{petId}', 'GET', call('GET', '/v1/pets/1', { key: 'nobody-has-this-key' }));
    time.now = Date.UTC(2030, 11, 5);
    await check('/pets/{petId}', 'GET', call('GET', '/v1/pets/1'));

    // Responses that need an unavailable storage, an unexpected error or a limit have tests of their own.
    const elsewhere = ['429', '500', '503', 'default'];
    for (const { get, post } of Object.values(document.paths)) {
      for (const operation of [get, post].filter((value) => value !== undefined)) {
        const expected = Object.keys(operation.responses).filter((name) => !elsewhere.includes(name));
        expect([operation.operationId, [...(seen.get(operation.operationId) ?? [])].sort()]).toEqual([
          operation.operationId,
          expected.sort(),
        ]);
      }
    }
  });

  test('accepts a body exactly if the schema of NewPet does', { timeout: 180_000 }, async ({ service }) => {
    const { document } = await documentOf(service);
    const schema = document.components.schemas['NewPet'] as object;
    const oddities = fc.oneof(
      fc.constantFrom('', ' ', '\t', '\u00a0', 'x'.repeat(200), 'x'.repeat(201), '🐕'.repeat(200), '🐕'.repeat(201)),
      fc.constantFrom(0, -1, 1.5, 1e3, 2 ** 53, -(2 ** 62), 2 ** 64, null, true, 'sold', 'pending', 'Sold'),
      fc.string(),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom([], {}),
    );
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.record({ name: oddities, categoryId: oddities, status: oddities, more: oddities }, { requiredKeys: [] }),
          // Both accepted and rejected bodies must be frequent.
          {
            weight: 3,
            arbitrary: fc.record({
              name: fc.oneof(fc.constant('Rex'), oddities),
              categoryId: fc.oneof(fc.integer(), oddities),
              status: fc.constantFrom('sold', 'available', undefined),
            }),
          },
          oddities,
        ),
        async (body) => {
          const text = JSON.stringify(body);
          const { status } = await service.add(text);
          if (status === 201) taken += 1;
          expect([text, status]).toEqual([text, accepts(document, schema, JSON.parse(text)) ? 201 : 400]);
        },
      ),
      { numRuns: 600 },
    );
    expect(taken).toBeGreaterThan(50);
  });

  test('accepts a query exactly if the schemas of its parameters do', async ({ service }) => {
    const { document } = await documentOf(service);
    const [limit, status] = document.paths['/pets']?.get?.parameters ?? [];
    const limits = fc.oneof(fc.integer({ min: -5, max: 120 }).map(String), fc.constantFrom('', '1.5', 'x', '100', '1'));
    const statuses = fc.constantFrom('available', 'pending', 'sold', 'Sold', '', 'x');
    await fc.assert(
      fc.asyncProperty(fc.record({ limit: limits, status: statuses }, { requiredKeys: [] }), async (query) => {
        const fits = (schema: object | undefined, value: unknown) =>
          value === undefined || accepts(document, schema as object, value);
        const number = query.limit === undefined || query.limit === '' ? query.limit : Number(query.limit);
        const valid = fits(limit?.schema, number) && fits(status?.schema, query.status);
        const reply = await service.call('GET', `/v1/pets?${new URLSearchParams(query)}`);
        expect([query, reply.status]).toEqual([query, valid ? 200 : 400]);
      }),
      { numRuns: 300 },
    );
  });
});

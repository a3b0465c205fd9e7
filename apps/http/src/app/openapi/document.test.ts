import { LIMITS } from '@animal-store/domain';
import { Validator } from '@seriousme/openapi-schema-validator';
import Schema from 'typebox/schema';
import { describe, expect } from 'vitest';
import { type App, type Call, KEY, OTHER_KEY, type Reply, startApp, test } from '../../../test/service.ts';
import { ERROR_STATUS } from '../errors.ts';

type Json = Readonly<Record<string, unknown>>;

interface Operation {
  readonly operationId: string;
  readonly deprecated?: boolean;
  readonly parameters: readonly { name: string; in: string; required?: boolean; schema: Json }[];
  readonly requestBody?: Response;
  readonly responses: Readonly<Record<string, Response>>;
}

interface Response {
  readonly headers?: Readonly<Record<string, Json>>;
  readonly content?: Readonly<Record<string, { readonly schema: Json; readonly example?: unknown }>>;
}

interface Document {
  readonly openapi: string;
  readonly servers: readonly Json[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly security: readonly Json[];
  readonly components: Readonly<Record<string, Readonly<Record<string, Json>>>>;
}

async function documentOf({ call }: App) {
  const { text, json } = await call('GET', '/openapi.json', { key: null });
  const validator = new Validator();
  expect(await validator.validate(json as Json)).toMatchObject({ valid: true });
  // With the targets of references in their places.
  const document = validator.resolveRefs() as unknown as Document;
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  return { text, document, operations };
}

/** Whether a value is what a schema says. */
const accepts = (schema: Json, value: unknown): boolean => Schema.Compile(schema).Check(value);

describe('the OpenAPI document', () => {
  test('has examples that match their schemas', async ({ app }) => {
    const { text, operations } = await documentOf(app);
    const contents = operations.flatMap(({ requestBody, responses }) =>
      [requestBody, ...Object.values(responses)].flatMap(({ content, headers } = {}) => [
        ...Object.values(content ?? {}),
        ...Object.values(headers ?? {}),
      ]),
    );
    for (const { schema, example } of contents.filter((content) => 'example' in content)) {
      expect([example, accepts(schema as Json, example)]).toEqual([example, true]);
      expect(example).not.toEqual([]);
    }
    expect(contents.length).toBeGreaterThan(20);
    // Generators for TypeScript and mock servers can't hold the extremes of 64 bits.
    expect(text).not.toMatch(/"example":[^}]*\d{16}/);
  });

  test('has the members of pets and errors, with bounds digit for digit', async ({ app }) => {
    const { text, document } = await documentOf(app);
    const { schemas = {}, securitySchemes } = document.components;
    const members = Object.entries(schemas).flatMap(([name, { required, properties }]) =>
      properties === undefined ? [] : [[name, required, Object.keys(properties as object)]],
    );
    expect(members).toEqual([
      ['NewPet', ['name', 'categoryId'], ['name', 'categoryId', 'status']],
      ['Pet', ['id', 'name', 'categoryId'], ['id', 'name', 'categoryId', 'status']],
      ['Error', ['code', 'message', 'status'], ['code', 'message', 'status']],
    ]);
    expect(schemas['Error']).toMatchObject({
      additionalProperties: false,
      properties: { code: { enum: Object.keys(ERROR_STATUS) } },
    });
    // JSON.parse has rounded them.
    const bounds = Array.from(
      text.matchAll(/"format":"int64","minimum":(-?\d+),"maximum":(\d+)/g),
      ([, ...pair]) => pair,
    );
    expect(new Set(bounds.map(String))).toEqual(
      new Set(['-9223372036854775808,9223372036854775807', '1,9223372036854775807']),
    );
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.security).toEqual([{ apiKey: [] }]);
    expect(securitySchemes).toMatchObject({ apiKey: { type: 'http', scheme: 'bearer' } });
  });

  test('has no bounds in responses, so that generated clients accept what was stored under others', async ({ app }) => {
    const { operations } = await documentOf(app);
    const returned = JSON.stringify(operations.map(({ responses }) => responses));
    const bound =
      /"((?:exclusive)?(?:min|max)(?:imum|Length|Items|Properties|Contains)?|multipleOf|pattern|uniqueItems)":/gi;
    expect(Array.from(returned.matchAll(bound), ([, name]) => name)).toEqual([]);
    expect(returned).toContain('"format":"int64"');
  });

  // Generators copy texts, patterns, examples and defaults into source code: a byte order mark or U+2028 there does not compile.
  test('is printable ASCII, also where JSON escapes it', async ({ app }) => {
    const { text } = await documentOf(app);
    const parts: string[] = [];
    JSON.parse(text, (name, value) => parts.push(name, typeof value === 'string' ? value : ''));
    expect(parts.filter((part) => !/^[\x20-\x7e\n]*$/.test(part))).toEqual([]);
    expect(parts).toContain('Idempotency-Key');
  });

  test('has the fields of quotas where a client looks for them', async ({ app }) => {
    const { operations } = await documentOf(app);
    const statuses = operations.flatMap(({ responses }) =>
      Object.entries(responses).flatMap(([status, { headers = {} }]) => ('RateLimit' in headers ? [status] : [])),
    );
    expect(new Set(statuses)).toEqual(new Set(['200', '201', '429']));
  });

  test('has each operation with its parameters', async ({ app }) => {
    const { document, operations } = await documentOf(app);
    const routes = Object.entries(document.paths).map(([path, methods]) => [path, ...Object.keys(methods)]);
    expect(routes).toEqual([
      ['/pets', 'get', 'post'],
      ['/pets/{petId}', 'get'],
    ]);
    expect(operations).toMatchObject([
      { operationId: 'listPets' },
      { operationId: 'createPet', requestBody: { required: true } },
      { operationId: 'getPet', deprecated: true, description: expect.stringContaining('Removed on 5 December 2030') },
    ]);
    const parameters = operations.flatMap(({ parameters }) =>
      parameters.map(({ in: place, name, schema, required = false }) => [place, name, required, schema]),
    );
    const { source: pattern } = LIMITS.idempotencyKey.pattern;
    expect(parameters).toMatchObject([
      ['query', 'limit', false, { type: 'integer', minimum: 1, maximum: 100, default: 20 }],
      ['query', 'status', false, { enum: ['available', 'pending', 'sold'] }],
      ['query', 'cursor', false, { type: 'string' }],
      ['header', 'Idempotency-Key', false, { minLength: 1, maxLength: 255, pattern }],
      ['path', 'petId', true, { type: 'integer', format: 'int64', minimum: 1 }],
    ]);
  });

  /** Fields that a client may want to act upon. Some errors have a quota, others come before it is counted. */
  const TELLING_FIELDS = ['link', 'location', 'deprecation', 'sunset', 'www-authenticate', 'retry-after'];

  /** Checks a response against what the document says of the operation, and returns the name of the response there. */
  function checkReply({ responses }: Operation, reply: Reply): string {
    const name = String(reply.status) in responses ? String(reply.status) : 'default';
    const { content, headers = {} } = responses[name] as Response;
    expect(reply.headers['content-type']).toBe('application/json');
    expect(accepts(content?.['application/json']?.schema as Json, reply.json), reply.text).toBe(true);
    const described = Object.entries(headers).map(([field, { required }]) => ({
      field: field.toLowerCase(),
      required,
    }));
    const telling = reply.status < 400 ? [...TELLING_FIELDS, 'ratelimit'] : TELLING_FIELDS;
    for (const { field } of described.filter(({ required }) => required)) expect(reply.headers).toHaveProperty(field);
    for (const field of telling.filter((field) => field in reply.headers)) {
      expect(described.map((each) => each.field)).toContain(field);
    }
    return name;
  }

  test('has every response of every operation, and no other, with the words of each error', async () => {
    const time = { now: Date.now() };
    const app = startApp({ BASE_PATH: '/shop/v1', RATE_LIMIT: '600' }, { clock: () => time.now });
    const { document, operations } = await documentOf(app);
    expect(document.servers).toEqual([expect.objectContaining({ url: '/shop/v1' })]);
    const get = (path: string, given?: Call) => app.call('GET', `/shop/v1${path}`, given);
    const create = (body: string, fields = {}, key: string | null = KEY) =>
      app.call('POST', '/shop/v1/pets', { key, body, headers: { 'content-type': 'application/json', ...fields } });
    const rex = '{"name":"Rex","categoryId":7,"status":"sold"}';
    const used = { 'idempotency-key': 'k' };
    const replies: Record<string, Reply[]> = {
      createPet: [
        ...[await create('{}'), await create(rex, { 'content-type': 'text/plain' }), await create(' '.repeat(70_000))],
        ...[await create(rex, {}, null), await create(rex, used), await create(rex.replace('7', '8'), used)],
      ],
      listPets: [
        ...[await get('/pets'), await get('/pets?limit=1&status=sold'), await get('/pets?limit=0')],
        await get('/pets', { key: null }),
      ],
      getPet: [await get('/pets/1'), await get('/pets/7'), await get('/pets/7', { key: null })],
    };
    for (let count = 0; count < 600; count += 1) await get('/pets/7');
    const rejected = { createPet: await create(rex), listPets: await get('/pets'), getPet: await get('/pets/7') };
    time.now = Date.UTC(2030, 11, 5);
    replies['getPet']?.push(await get('/pets/7', { key: OTHER_KEY }));
    const notFound = await app.call('GET', '/nothing');
    expect(checkReply(operations[0] as Operation, notFound)).toBe('default');

    // The number of seconds to wait varies.
    const wordsOf = (error: unknown) => JSON.stringify(error).replace(/in \d+ s"/, 'in n s"');
    const all = [...Object.values(replies).flat(), ...Object.values(rejected), notFound];
    const words = all.map(({ json }) => wordsOf(json));
    for (const operation of operations) {
      const id = operation.operationId as keyof typeof rejected;
      const seen = new Set([...(replies[id] as Reply[]), rejected[id]].map((reply) => checkReply(operation, reply)));
      // Responses that need an unavailable storage or an unexpected error have tests of their own.
      const described = Object.keys(operation.responses).filter((name) => !/500|503|default/.test(name));
      expect([...seen].sort(), id).toEqual(described);
      for (const name of [...described, 'default'].filter((name) => !name.startsWith('2'))) {
        const { content } = operation.responses[name] as Response;
        expect(words, name).toContain(wordsOf(content?.['application/json']?.example));
      }
    }
  });
});

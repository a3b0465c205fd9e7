import Schema from 'typebox/schema';
import { describe, expect } from 'vitest';
import {
  type Document,
  type Json,
  type OperationObject,
  operationsOf,
  type ResponseObject,
  resolve,
} from './openapi-document.ts';
import { type App, type Call, KEY, OTHER_KEY, type Reply, startApp, test } from './service.ts';

async function documentOf({ call }: App): Promise<Document> {
  return (await call('GET', '/openapi.json', { key: null })).json as Document;
}

/** Whether a value is what a schema of the document says. */
function accepts(document: Document, schema: object, value: unknown): boolean {
  const { components } = document;
  return Schema.Compile({ ...schema, components } as object).Check(value);
}

/** Fields that a client may want to act upon. Some errors have a quota, others come before it is counted. */
const TELLING_FIELDS = ['link', 'location', 'deprecation', 'sunset', 'www-authenticate', 'retry-after'];

/** Checks a response against what the document says of the operation, and names the response it fell under. */
function checkReply(document: Document, operation: OperationObject, reply: Reply): string {
  const name = String(reply.status) in operation.responses ? String(reply.status) : 'default';
  const response = resolve(document, operation.responses[name] as ResponseObject);
  const media = response.content?.['application/json'];
  expect(reply.headers['content-type']).toBe('application/json');
  const what = `${operation.operationId} ${reply.status} ${reply.text}`;
  expect(accepts(document, media?.schema as object, reply.json), what).toBe(true);
  for (const [header, given] of Object.entries(response.headers ?? {})) {
    if (!resolve<Json>(document, given)['required']) continue;
    expect(reply.headers[header.toLowerCase()], `${header} of ${what}`).toBeDefined();
  }
  const described = Object.keys(response.headers ?? {}).map((header) => header.toLowerCase());
  const telling = reply.status < 400 ? [...TELLING_FIELDS, 'ratelimit'] : TELLING_FIELDS;
  for (const field of telling.filter((field) => reply.headers[field] !== undefined)) {
    expect(described, what).toContain(field);
  }
  return name;
}

describe('the service follows the document', () => {
  test('returns every response of every operation, and no other, errors as the examples word them', async () => {
    const time = { now: Date.now() };
    const app = await startApp({ BASE_PATH: '/shop/v1', RATE_LIMIT: '600' }, { clock: () => time.now });
    const document = await documentOf(app);
    expect(document.servers).toEqual([expect.objectContaining({ url: '/shop/v1' })]);
    const { call } = app;
    const [pets, pet] = ['/pets', '/pets/{petId}'];
    const rex = '{"name":"Rex","categoryId":7,"status":"sold"}';
    const seen = new Set<string>();
    const errors = new Set<string>();
    // The number of seconds to wait varies.
    const comparable = (name: string, error: unknown) =>
      `${name} ${JSON.stringify(error).replace(/in \d+ s"/, 'in n s"')}`;
    const check = (path: string, method: 'get' | 'post', reply: Reply) => {
      const operation = document.paths[path]?.[method] as OperationObject;
      const name = checkReply(document, operation, reply);
      seen.add(`${operation.operationId} ${name}`);
      errors.add(comparable(name, reply.json));
    };
    const post = async (body: string, headers: Record<string, string> = {}, key = KEY as string | null) => {
      const request = { body, key, headers: { 'content-type': 'application/json', ...headers } };
      check(pets, 'post', await call('POST', '/shop/v1/pets', request));
    };
    const get = async (path: string, given: Call = {}) =>
      check(path.startsWith('/pets/') ? pet : pets, 'get', await call('GET', `/shop/v1${path}`, given));
    await post('{}');
    await post(rex, { 'content-type': 'text/plain' });
    await post(' '.repeat(70_000));
    await post(rex, {}, null);
    await post(rex, { 'idempotency-key': 'k' });
    await post('{"name":"Max","categoryId":7}', { 'idempotency-key': 'k' });
    for (const query of ['', '?limit=1&status=sold', '?limit=0']) await get(`/pets${query}`);
    for (const id of ['1', '7']) await get(`/pets/${id}`);
    for (const path of ['/pets', '/pets/7']) await get(path, { key: null });
    check(pets, 'get', await call('GET', '/nothing'));
    for (let count = 0; count < 600; count += 1) await call('GET', '/shop/v1/pets/7');
    await get('/pets');
    time.now = Date.UTC(2030, 11, 5);
    await get('/pets/7', { key: OTHER_KEY });

    // Responses that need an unavailable storage or an unexpected error have tests of their own.
    const elsewhere = ['429', '500', '503', 'default'];
    const operations = operationsOf(document);
    const expected = operations.flatMap(({ operationId, responses }) =>
      Object.keys(responses)
        .filter((name) => !elsewhere.includes(name))
        .map((name) => `${operationId} ${name}`),
    );
    expect([...seen].sort()).toEqual([...expected, 'listPets 429', 'listPets default'].sort());
    const examples = operations.flatMap(({ responses }) =>
      Object.entries(responses)
        .filter(([name]) => !/^(?:2..|500|503)$/.test(name))
        .map(([name, response]) => {
          const { example } = resolve(document, response).content?.['application/json'] ?? {};
          return comparable(name, example);
        }),
    );
    expect([...errors]).toEqual(expect.arrayContaining(examples));
  });
});

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LIMITS } from '@animal-store/domain';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  type AllPetsQuery,
  AnimalStoreError,
  type Client,
  type ClientOptions,
  createClient,
  type Pet,
} from './index.ts';

const OPTIONS = { url: 'http://animals.example/v1', key: 'the-key-of-the-tests' };
const REX = '{"id":9007199254740991,"name":"Rex","categoryId":9223372036854775807,"status":"available"}';
const newRex = { name: 'Rex', categoryId: 9223372036854775807n, status: 'available' } as const;
const rex = { id: 9007199254740991n, ...newRex } as const satisfies Required<Pet>;

/** How a service responds to one request. */
type Step = (signal: AbortSignal) => Response | Promise<Response>;

const respond =
  (status: number, body: string, headers: Record<string, string> = {}): Step =>
  () =>
    new Response(body, { status, headers });

const fail = (status: number, code: string, headers: Record<string, string> = {}): Step =>
  respond(status, JSON.stringify({ code, message: `the message of ${code}` }), {
    'x-request-id': 'request-7',
    ...headers,
  });

const created = respond(201, REX);

const page = (id: number, link = '') => respond(200, `[{"id":${id},"name":"Rex","categoryId":1}]`, { link });

const reset: Step = () => Promise.reject(new TypeError('fetch failed', { cause: new Error('read ECONNRESET') }));

const silent: Step = (signal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

/** A client of a service that takes one step for each request, and repeats the last. */
function start(steps: readonly [Step, ...Step[]], options: Partial<ClientOptions> = {}) {
  const requests: Request[] = [];
  const fetch: ClientOptions['fetch'] = async (input, init) => {
    const request = new Request(input, init);
    const step = steps[requests.push(request) - 1] ?? steps.at(-1);
    return (step as Step)(request.signal);
  };
  return { client: createClient({ ...OPTIONS, fetch, ...options }), requests };
}

/** The values of a header field in requests. */
const fieldsOf = (requests: readonly Request[], name: string) => requests.map(({ headers }) => headers.get(name));

/** The idempotency keys of requests. */
const keysOf = (requests: readonly Request[]) => fieldsOf(requests, 'idempotency-key');

describe('createClient', () => {
  test.each([
    ...['animals.example', '/v1', 'ftp://animals.example', 'shttp://animals.example', ''],
    ...['http://bob:s3cret@animals.example/v1', 'http://bob:s3cret@animals.example:port/v1'],
    ...['http://:s3cret@animals.example/v1', 'http://bob@animals.example/v1'],
    ...['http://animals.example/v1?tenant=7', 'http://animals.example/v1#pets'],
  ])('rejects the URL %j and does not repeat it', (url) => {
    const rule = 'url must be an http(s) URL, or on a page a path, without credentials, query and fragment';
    expect(() => createClient({ ...OPTIONS, url })).toThrow(new TypeError(rule));
  });

  test.each(['', 'two words', 'line\nend', 'ключ', undefined])('rejects the key %j and does not repeat it', (key) => {
    const error = new TypeError('key must have 1 or more characters, all visible ASCII');
    expect(() => createClient({ ...OPTIONS, key: key as string })).toThrow(error);
  });

  const NAMES = 'url, key, maxRetries, onRetry, timeout, fetch, onDeprecation';

  test.each<readonly [string, unknown, string]>([
    ['a misspelt name, without its value', { ...OPTIONS, apiKey: 'x' }, `have no apiKey, only ${NAMES}`],
    ['a URL', OPTIONS.url, 'be an object'],
  ])('rejects options that are %s', (_, options, rule) => {
    expect(() => createClient(options as never)).toThrow(new TypeError(`options must ${rule}`));
  });

  test.each<readonly [string, string | URL, string]>([
    ['a URL that ends with slashes', `${OPTIONS.url}//`, '/v1/pets'],
    ['a URL object', new URL(OPTIONS.url), '/v1/pets'],
    ['a path on the origin of the page', '/v1', '/v1/pets'],
    ['a path on the origin of the page that names another one', '//other.example', '//other.example/pets'],
    ['such a path with a backslash', '/\\other.example', '//other.example/pets'],
  ])('accepts %s', async (_, url, target) => {
    vi.stubGlobal('location', new URL(OPTIONS.url));
    onTestFinished(() => void vi.unstubAllGlobals());
    const { client, requests } = start([respond(200, '[]')], { url });
    await client.listPets();
    expect(requests[0]?.url).toBe(`http://animals.example${target}`);
  });
});

describe('a wrong argument', () => {
  type Row = [message: string, method: keyof Client, given: unknown[], options?: object];

  const TEXTS = ['ключ', 'line\nend', 'two words', '', 'a'.repeat(256), null];
  const NUMBERS = [Number.NaN, -1, '5000'];
  const SIGNALS = ['x', null, { aborted: false, throwIfAborted() {} }];
  const KEY_RULE = 'idempotencyKey must have 1 to 255 visible ASCII characters';
  const CATEGORY = 'the categoryId of newPet must be a bigint, was';
  // A number that has lost digits.
  const categoryId = Number('9007199254740993');

  test.each<Row>([
    [`${CATEGORY} undefined`, 'createPet', [undefined]],
    [`${CATEGORY} the number ${categoryId}`, 'createPet', [{ name: 'Rex', categoryId }]],
    ['options must be an object', 'createPet', [newRex, 'order-4711']],
    ['options must be an object', 'createPet', [newRex, null]],
    ['options must have no key, only signal, timeout, idempotencyKey', 'createPet', [newRex, { key: 'order-4711' }]],
    ['options must have no maxRetries, only signal, timeout', 'listPets', [{}, { maxRetries: 0 }]],
    ['options must have no aborted, only signal, timeout', 'getPet', [1n, new AbortController().signal]],
    ...TEXTS.map((idempotencyKey): Row => [KEY_RULE, 'createPet', [newRex, { idempotencyKey }]]),
    ...NUMBERS.map((timeout): Row => ['timeout must be a number, 0 or more', 'listPets', [{}, { timeout }]]),
    ...NUMBERS.map((maxRetries): Row => ['maxRetries must be a number, 0 or more', 'listPets', [], { maxRetries }]),
    ...SIGNALS.map((signal): Row => ['signal must be an AbortSignal', 'listPets', [{}, { signal }]]),
    ['fetch must be a function', 'listPets', [], { fetch: 'x' }],
    ['query must be an object', 'listPets', ['sold']],
    ['query must have no after, only limit, status, cursor', 'listPets', [{ after: 7n }]],
    ['query must have no limit, only status, cursor', 'allPets', [{ limit: 5 }]],
    ['limit must be a number, was the string 5', 'listPets', [{ limit: '5' }]],
    ['limit must be a number, was null', 'listPets', [{ limit: null }]],
    ['status must be a string, was the number 7', 'listPets', [{ status: 7 }]],
    ['cursor must be a string, was the bigint 7', 'listPets', [{ cursor: 7n }]],
    ['id must be a bigint, was the string ../../admin', 'getPet', ['../../admin']],
  ])('is rejected by its name, without a request: %s', async (message, method, given, options) => {
    const { client, requests } = start([respond(200, '[]')], options);
    const called = (client[method] as (...given: unknown[]) => unknown)(...given);
    const first = method === 'allPets' ? (called as AsyncGenerator).next() : called;
    await expect(first).rejects.toThrow(new TypeError(message));
    expect(requests).toHaveLength(0);
  });
});

test('listPets sends its arguments, and returns exact integers', async () => {
  const { client, requests } = start([respond(200, `[${REX}]`)]);
  expect(await client.listPets({ limit: 5, status: 'sold', cursor: 'AQ==' })).toEqual({ pets: [rex], next: null });
  // The cursor of a last page begins with the first pet again.
  await client.listPets({ cursor: null });
  const targets = ['?limit=5&status=sold&cursor=AQ%3D%3D', ''];
  expect(requests.map(({ url }) => url)).toEqual(targets.map((target) => `${OPTIONS.url}/pets${target}`));
  const [request] = requests;
  expect([request?.method, request?.headers.get('authorization')]).toEqual(['GET', `Bearer ${OPTIONS.key}`]);
  // A redirected POST may become a GET.
  expect(request?.redirect).toBe('manual');
});

test('allPets follows the pages to their end', async () => {
  const { client, requests } = start([
    page(1, '</v1/pets?limit=1&cursor=A%2BB>; rel=next'),
    fail(503, 'service_unavailable'),
    page(2, '<?cursor=C>;rel="next"'),
    page(3),
  ]);
  const ids: bigint[] = [];
  const query: AllPetsQuery = Object.assign(Object.create({ status: 'sold' }), { cursor: '0' });
  for await (const { id } of client.allPets(query)) ids.push(id);
  expect(ids).toEqual([1n, 2n, 3n]);
  const cursors = ['0', 'A%2BB', 'A%2BB', 'C'];
  expect(requests.map(({ url }) => url)).toEqual(
    cursors.map((cursor) => `${OPTIONS.url}/pets?limit=${LIMITS.page.max}&status=sold&cursor=${cursor}`),
  );
});

const LOOP = '<?cursor=A>; rel=next';

test.each<[string, ...Step[]]>([
  ['that is the same', page(1, LOOP), page(1, LOOP)],
  ['of a cycle', page(1, LOOP), page(2, '<?cursor=B>; rel=next'), page(1, LOOP)],
  ['of earlier pets, at the end', page(2, LOOP), page(1)],
  ['that is not the last, and empty', respond(200, '[]', { link: LOOP })],
])('allPets ends with an error at a page %s', async (_, ...steps) => {
  const { client } = start([...steps, fail(404, 'not_found')] as [Step]);
  const reading = (async () => {
    for await (const { name } of client.allPets()) expect(name).toBe('Rex');
  })();
  const message = 'the response is not the page that follows: a cache may ignore the query';
  await expect(reading).rejects.toMatchObject({ code: 'unexpected_response', status: 200, message });
});

describe('createPet', () => {
  test('sends exact integers, and leaves out a status that is undefined', async () => {
    const { client, requests } = start([created]);
    expect(await client.createPet({ name: 'Rex', categoryId: -9223372036854775808n, status: undefined })).toEqual(rex);
    const [request] = requests as [Request];
    const { method, url, headers } = request;
    expect([method, url, headers.get('content-type')]).toEqual(['POST', `${OPTIONS.url}/pets`, 'application/json']);
    expect(await request.text()).toBe('{"name":"Rex","categoryId":-9223372036854775808}');
  });

  test('makes an idempotency key for each pet, or sends the one that it is given', async () => {
    const { client, requests } = start([created]);
    const idempotencyKey = '!~'.padEnd(255, 'a');
    for (const options of [{}, {}, { idempotencyKey }]) await client.createPet(newRex, options);
    const made = expect.stringMatching(/^\d+-\d+$/);
    expect(keysOf(requests)).toEqual([made, made, idempotencyKey]);
    for (const name of ['idempotency-key', 'x-request-id']) expect(new Set(fieldsOf(requests, name)).size).toBe(3);
  });

  test.each<readonly [string, Step]>([
    ['408', fail(408, 'invalid_request')],
    ['429', fail(429, 'too_many_requests')],
    ['500', fail(500, 'internal_error')],
    ['502 of a proxy', respond(502, '<html>')],
    ['503', fail(503, 'service_unavailable')],
    ['504 of a proxy', respond(504, '')],
  ])('repeats the same request after %s', async (_, step) => {
    const { client, requests } = start([step, step, created]);
    expect(await client.createPet(newRex)).toEqual(rex);
    const bodies = await Promise.all(requests.map((request) => request.text()));
    expect(bodies).toEqual(Array(3).fill(bodies[0]));
    for (const name of ['idempotency-key', 'x-request-id'])
      expect(new Set(fieldsOf(requests, name)), name).toEqual(new Set([expect.any(String)]));
  });

  test('repeats the same request after a connection that was reset, and a response that was cut off', async () => {
    const keys: unknown[] = [];
    const server = createServer(({ headers }, response) => {
      const attempt = keys.push(headers['idempotency-key']);
      if (attempt === 1) response.destroy();
      else if (attempt === 2) response.writeHead(201, { 'content-length': 1_000 }).write('{', () => response.destroy());
      else response.end(REX);
    });
    onTestFinished(() => void server.close().closeAllConnections());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    expect(await createClient({ ...OPTIONS, url }).createPet(newRex, { idempotencyKey: 'order-17' })).toEqual(rex);
    expect(keys).toEqual(Array(3).fill('order-17'));
  });
});

describe('a rejected call', () => {
  test.each([
    [400, 'invalid_request'],
    [401, 'unauthorized'],
    [404, 'pet_not_found'],
    [410, 'endpoint_removed'],
    [422, 'idempotency_key_reused'],
  ])('is not repeated: %i', async (status, code) => {
    const { client, requests } = start([fail(status, code)]);
    const error = await client.createPet(newRex).catch((reason) => reason);
    expect(error).toBeInstanceOf(AnimalStoreError);
    expect(error).not.toHaveProperty('cause');
    const details = { requestId: 'request-7', message: `the message of ${code}` };
    expect(error).toMatchObject({ code, status, ...details });
    expect(keysOf(requests)).toEqual([error.idempotencyKey]);
  });

  const NO_PETS = 'is not the JSON of pets';
  const REDIRECTION = 'is a redirection: url must be that of the service';

  test.each<[string, Step, number | undefined, string?]>([
    ['a page of HTML with 200', respond(200, '<html>'), 200, NO_PETS],
    ['a page of HTML with 403', respond(403, '<html>'), 403],
    ['an empty list with 403', respond(403, '[]'), 403],
    ['an error body of something else', respond(400, '{"error":"no"}'), 400],
    ['an error without a message', respond(404, '{"code":"not_found","message":{}}'), 404],
    ['an error of a proxy', respond(403, '{"code":"AccessDenied","message":"no"}'), 403],
    ["an error with a code of the client's own", respond(400, '{"code":"no_response","message":"no"}'), 400],
    ['a pet whose id is no integer', respond(200, '[{"id":1.5,"name":"Rex","categoryId":7}]'), 200, NO_PETS],
    ['a pet whose category is no integer', respond(200, '[{"id":1,"name":"Rex","categoryId":"7"}]'), 200, NO_PETS],
    ['a pet without a name', respond(200, '[{"id":1,"categoryId":7}]'), 200, NO_PETS],
    ['a pet whose status is null', respond(200, `[${REX.replace('"available"', 'null')}]`), 200, NO_PETS],
    ['null', respond(200, 'null'), 200, NO_PETS],
    ['another object', respond(200, '{"status":"ok"}'), 200, NO_PETS],
    ['an error with 200', fail(200, 'invalid_request'), 200, NO_PETS],
    ['a redirection that Node.js shows', respond(307, '', { location: '/elsewhere' }), 307, REDIRECTION],
    ['a redirection that a browser hides', () => Response.error(), undefined, REDIRECTION],
  ])('has the code unexpected_response after %s', async (_, step, status, rest) => {
    const { client, requests } = start([step]);
    const message = `the response ${rest ?? `has the status ${status} and no error of the service`}`;
    const name = 'AnimalStoreError';
    await expect(client.listPets()).rejects.toMatchObject({ name, code: 'unexpected_response', status, message });
    expect(requests).toHaveLength(1);
  });
});

describe('a call that is repeated', () => {
  /** The pauses from now on, none of which is waited for, without a random part. */
  function pausesOf(): number[] {
    onTestFinished(() => void vi.restoreAllMocks());
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const pauses: number[] = [];
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((end: () => void, pause: number) => {
      pauses.push(pause);
      queueMicrotask(end);
    }) as typeof setTimeout);
    return pauses;
  }

  const NOW = 'Tue, 01 Jan 2036 00:00:00 GMT';
  const FIRST = 100;
  const LONGEST = 2 ** 31 - 1;
  const NO_TIME = { fraction: '1.5', negative: '-5', year: '+99999', words: 'soon', 'words with GMT': 'soon GMT' };

  test.each<readonly [string, Record<string, string>, readonly number[]]>([
    ...Object.entries(NO_TIME).map(([name, value]) => [name, { 'retry-after': value }, [FIRST]] as const),
    ['seconds', { 'retry-after': '2' }, [FIRST + 2_000]],
    ['the past', { 'retry-after': 'Sun, 06 Nov 1994 08:49:37 GMT' }, [FIRST]],
    ['an obsolete form', { 'retry-after': 'Tuesday, 01-Jan-36 00:00:03 GMT', date: NOW }, [FIRST + 3_000]],
    ['a clock that is ahead', { 'retry-after': 'Tue, 01 Jan 2036 00:00:05 GMT', date: NOW }, [FIRST + 5_000]],
    ['more than a timer can wait', { 'retry-after': '3000000' }, [LONGEST, 3_000_000_000 + FIRST - LONGEST]],
    [
      'a date after that',
      { 'retry-after': 'Wed, 06 Feb 2036 00:00:00 GMT', date: NOW },
      [LONGEST, 36 * 86_400_000 + FIRST - LONGEST],
    ],
  ])('waits once for a Retry-After, without a timeout: %s', async (_, headers, expected) => {
    const pauses = pausesOf();
    const { client, requests } = start([respond(503, '', headers), created], { timeout: Number.POSITIVE_INFINITY });
    await client.createPet(newRex);
    expect(pauses).toEqual(expected);
    expect(requests).toHaveLength(2);
  });

  test('waits twice as long at most after each attempt, up to 5 seconds', async () => {
    const pauses = pausesOf();
    const { client } = start([...Array<Step>(8).fill(respond(503, '')), created] as [Step]);
    const { signal } = new AbortController();
    const removed = vi.spyOn(signal, 'removeEventListener');
    await client.createPet(newRex, { signal });
    expect(pauses).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
    // A signal of many calls holds on to none that has ended.
    expect(removed.mock.calls.map(([event]) => event)).toEqual(Array(8).fill('abort'));
  });

  test.each([0, 2])('is repeated %i times at most, each time after a call of onRetry', async (maxRetries) => {
    const onRetry = vi.fn();
    const { client, requests } = start([reset], { maxRetries, onRetry });
    const { code, requestId, idempotencyKey } = await client.createPet(newRex).catch((reason) => reason);
    expect(keysOf(requests)).toEqual(Array(1 + maxRetries).fill(idempotencyKey));
    expect(fieldsOf(requests, 'x-request-id')).toEqual(Array(1 + maxRetries).fill(requestId));
    const calls = [1, 2].map((retry) => [expect.objectContaining({ code, requestId, idempotencyKey }), retry]);
    expect(onRetry.mock.calls).toEqual(calls.slice(0, maxRetries));
  });

  test.each<[string, string, number?]>([
    ['seconds', '60'],
    ['a date', new Date(Date.now() + 60_000).toUTCString()],
    ['more than a number can hold', '9'.repeat(400), Number.POSITIVE_INFINITY],
  ])('rejects with the last error if Retry-After exceeds its timeout: %s', async (_, value, timeout) => {
    const { client, requests } = start([fail(503, 'service_unavailable', { 'retry-after': value })], { timeout });
    const error = await client.listPets().catch((reason) => reason);
    expect(error).toMatchObject({ code: 'service_unavailable', status: 503 });
    expect(error.retryAfter).toSatisfy((seconds) => seconds === timeout || Number.isInteger(seconds));
    expect(error.retryAfter).toBeGreaterThan(30);
    expect(error.retryAfter).toBeLessThanOrEqual(timeout ?? 60);
    expect(requests).toHaveLength(1);
  });

  const addresses = ['connect ECONNREFUSED ::1:3000', 'connect ECONNREFUSED 127.0.0.1:3000'];
  const ofAddresses = new AggregateError(addresses.map((message) => new Error(message)));

  test.each<[string, unknown, string]>([
    ['Node.js', new TypeError('fetch failed', { cause: new Error('read ECONNRESET') }), 'read ECONNRESET'],
    [
      'Node.js for a host of several addresses',
      new TypeError('fetch failed', { cause: ofAddresses }),
      addresses.join(', '),
    ],
    [
      'OpenSSL',
      new TypeError('fetch failed', { cause: new Error('SSL routines:wrong version number\n') }),
      'SSL routines:wrong version number',
    ],
    ['a browser', new TypeError('Failed to fetch'), 'Failed to fetch'],
    ['a fetch of the caller that rejects with a text', 'gone', 'gone'],
    ['a fetch of the caller that rejects with nothing', null, 'null'],
  ])('says why there is no response, as the error of %s does', async (_, failure, reason) => {
    const { client } = start([() => Promise.reject(failure)], { maxRetries: 0 });
    const message = `no response from ${OPTIONS.url}/pets: ${reason}`;
    await expect(client.listPets()).rejects.toMatchObject({ code: 'no_response', message });
  });

  test.each([
    ['resets connections', reset],
    ['is silent', silent],
  ])('rejects at its timeout, or that of the client if it has none, if the service %s', async (_, step) => {
    const expected = { code: 'no_response', status: undefined, cause: expect.any(Error) };
    await expect(start([step]).client.listPets({}, { timeout: 200 })).rejects.toMatchObject(expected);
    const { client } = start([step], { timeout: 200 });
    await expect(client.listPets({}, { timeout: undefined })).rejects.toMatchObject(expected);
  });
});

describe('a signal', () => {
  test('ends a call that has been sent', async () => {
    const controller = new AbortController();
    const aborted: Step = (signal) => {
      setImmediate(() => controller.abort(new Error('enough')));
      return silent(signal);
    };
    const { client, requests } = start([aborted], { maxRetries: 0 });
    await expect(client.listPets({}, { signal: controller.signal })).rejects.toThrow('enough');
    expect(requests).toHaveLength(1);
  });

  test.each<readonly [string, (abort: () => void) => void]>([
    ['before its next attempt, although the fetch of the caller ignores it', (abort) => abort()],
    ['that waits for its next attempt, and the wait', setImmediate],
  ])('ends a call %s', async (_, when) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const controller = new AbortController();
    const { signal } = controller;
    const onRetry = () => when(() => controller.abort(new Error('enough')));
    const { client, requests } = start([fail(503, 'service_unavailable', { 'retry-after': '20' })], { onRetry });
    await expect(client.createPet(newRex, { signal })).rejects.toThrow('enough');
    expect([requests.length, vi.getTimerCount()]).toEqual([1, 0]);
  });

  test('rejects the call without a request if it was aborted before', async () => {
    const { client, requests } = start([created]);
    const signal = AbortSignal.abort(new Error('before'));
    await expect(client.createPet(newRex, { signal })).rejects.toThrow('before');
    expect(requests).toHaveLength(0);
  });
});

test('each deprecated operation is reported once, by its first response', async () => {
  const headers = { deprecation: '@1760000000', sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' };
  const onDeprecation = vi.fn();
  const responses = [REX, `[${REX}]`, REX].map((body) => respond(200, body, headers));
  const { client, requests } = start([fail(404, 'pet_not_found', headers), ...responses], { onDeprecation });
  await expect(client.getPet(rex.id)).rejects.toMatchObject({ code: 'pet_not_found' });
  expect(onDeprecation).toHaveBeenCalledOnce();
  expect(await client.getPet(rex.id)).toEqual(rex);
  expect(requests.map(({ url }) => url)).toEqual(Array(2).fill(`${OPTIONS.url}/pets/9007199254740991`));
  await client.listPets();
  await client.createPet(newRex);
  expect(onDeprecation.mock.calls).toEqual(
    ['getPet', 'listPets', 'createPet'].map((operation) => [
      `${operation} of the Animal Store is deprecated: it ends on Thu, 05 Dec 2030 00:00:00 GMT`,
    ]),
  );
});

test('an error that onDeprecation throws ends the call, whatever its members', async () => {
  const error = Object.assign(new Error('mine'), { status: 503 });
  const onDeprecation = () => {
    throw error;
  };
  const { client, requests } = start([respond(200, REX, { deprecation: '@1760000000' })], { onDeprecation });
  await expect(client.getPet(rex.id)).rejects.toBe(error);
  expect(requests).toHaveLength(1);
});

describe('AnimalStoreError', () => {
  test('is recognised by `is` from another copy of the package', async () => {
    vi.resetModules();
    const { AnimalStoreError: Other } = await import('./index.ts');
    const error = new Other('no_response', 'no');
    expect([error instanceof AnimalStoreError, AnimalStoreError.is(error)]).toEqual([false, true]);
    expect([new Error('no'), { name: 'AnimalStoreError' }].map(AnimalStoreError.is)).toEqual([false, false]);
  });

  test('is written by JSON.stringify with its message', () => {
    const details = { status: 503, requestId: 'request-7', retryAfter: 1, idempotencyKey: 'order-17' };
    const error = new AnimalStoreError('service_unavailable', 'no', { ...details, cause: new Error() });
    const expected = { name: 'AnimalStoreError', code: 'service_unavailable', message: 'no', ...details };
    expect(JSON.parse(JSON.stringify(error))).toEqual(expected);
  });
});

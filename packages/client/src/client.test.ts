import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { cut, fail, reset, respond, type Step, silent, startServer } from '../test/scripted-server.ts';
import { AnimalStoreError, type Client, createClient, type Pet } from './index.ts';

const KEY = 'the-key-of-the-tests';
const REX = '{"id":9007199254740991,"name":"Rex","categoryId":9223372036854775807,"status":"available"}';
const newRex = { name: 'Rex', categoryId: 9223372036854775807n, status: 'available' } as const;
const rex = { id: 9007199254740991n, ...newRex } as const satisfies Required<Pet>;
const created = respond(201, REX);

/** The options of a client whose requests go nowhere, unless it is given a `fetch`. */
const OPTIONS = { url: 'http://animals.example/v1', key: KEY };

async function start(...steps: readonly Step[]) {
  const { url, requests } = await startServer(...steps);
  return { client: createClient({ url, key: KEY }), url, requests };
}

describe('createClient', () => {
  test.each([
    ...['animals.example', '/v1', 'ftp://animals.example', 'shttp://animals.example', ''],
    ...['http://bob:s3cret@animals.example/v1', 'http://bob:s3cret@animals.example:port/v1'],
    ...['http://:s3cret@animals.example/v1', 'http://bob@animals.example/v1'],
    ...['http://animals.example/v1?tenant=7', 'http://animals.example/v1#pets'],
  ])('rejects the URL %j and does not repeat it', (url) => {
    const rule = 'url must be an http(s) URL, or on a page a path, without credentials, query and fragment';
    expect(() => createClient({ url, key: KEY })).toThrow(new TypeError(rule));
  });

  test.each(['', 'two words', 'line\nend', 'ключ', undefined])('rejects the key %j and does not repeat it', (key) => {
    const error = new TypeError('key must have visible ASCII characters only');
    expect(() => createClient({ ...OPTIONS, key: key as string })).toThrow(error);
  });

  test.each<readonly [string, unknown, string]>([
    [
      'a misspelt name, without its value',
      { ...OPTIONS, apiKey: KEY },
      'have no apiKey, only url, key, maxRetries, onRetry, timeout, fetch, onDeprecation',
    ],
    ['a URL', OPTIONS.url, 'be an object'],
  ])('rejects options that are %s', (_, options, rule) => {
    expect(() => createClient(options as never)).toThrow(new TypeError(`options must ${rule}`));
  });

  test.each<readonly [string, (url: string) => string | URL, string]>([
    ['a URL that ends with slashes', (url) => `${url}//`, '/v1/pets?'],
    ['a URL object', (url) => new URL(url), '/v1/pets?'],
    ['a path on the origin of the page', () => '/v1', '/v1/pets?'],
    ['a path on the origin of the page that names another one', () => '//other.example', '//other.example/pets?'],
    ['such a path with a backslash', () => '/\\other.example', '//other.example/pets?'],
  ])('accepts %s', async (_, urlOf, target) => {
    const { url, requests } = await startServer(respond(200, '[]'));
    vi.stubGlobal('location', new URL(url));
    onTestFinished(() => void vi.unstubAllGlobals());
    await createClient({ url: urlOf(url), key: KEY }).listPets();
    expect(requests[0]).toMatchObject({ url: target, headers: { authorization: `Bearer ${KEY}` } });
  });
});

describe('a wrong argument', () => {
  type Call = (client: Client) => Promise<unknown>;
  const IDEMPOTENCY_KEYS = ['ключ', 'line\nend', 'two words', '', 'a'.repeat(256), null];
  const NUMBERS = [Number.NaN, -1, '5000'];

  const CATEGORY = 'the categoryId of newPet must be a bigint, was';
  // A number that has lost digits.
  const categoryId = Number('9007199254740993');

  test.each<readonly [string, Call]>([
    [`${CATEGORY} undefined`, (client) => client.createPet(undefined as never)],
    [`${CATEGORY} the number ${categoryId}`, (client) => client.createPet({ name: 'Rex', categoryId } as never)],
    ['options must be an object', (client) => client.createPet(newRex, 'order-4711' as never)],
    ['options must be an object', (client) => client.createPet(newRex, null as never)],
    [
      'options must have no idempotencykey, only signal, timeout, idempotencyKey',
      (client) => client.createPet(newRex, { idempotencykey: 'order-4711' } as never),
    ],
    [
      'options must have no maxRetries, only signal, timeout',
      (client) => client.listPets({}, { maxRetries: 0 } as never),
    ],
    [
      'options must have no aborted, only signal, timeout',
      (client) => client.getPet(1n, new AbortController().signal as never),
    ],
    ...IDEMPOTENCY_KEYS.map((idempotencyKey): [string, Call] => [
      'idempotencyKey must have 1 to 255 visible ASCII characters',
      (client) => client.createPet(newRex, { idempotencyKey } as never),
    ]),
    ...NUMBERS.map((timeout): [string, Call] => [
      'timeout must be a number, 0 or more',
      (client) => client.listPets({}, { timeout } as never),
    ]),
    ...['x', null, { aborted: false, throwIfAborted() {} }].map((signal): [string, Call] => [
      'signal must be an AbortSignal',
      (client) => client.listPets({}, { signal } as never),
    ]),
    ['query must be an object', (client) => client.listPets('sold' as never)],
    ['query must have no after, only limit, status, cursor', (client) => client.listPets({ after: 7n } as never)],
    ['query must have no limit, only status, cursor', (client) => client.allPets({ limit: 5 } as never).next()],
    ['limit must be a number, was the string 5', (client) => client.listPets({ limit: '5' } as never)],
    ['limit must be a number, was null', (client) => client.listPets({ limit: null } as never)],
    ['status must be a string, was the number 7', (client) => client.listPets({ status: 7 } as never)],
    ['cursor must be a string, was the bigint 7', (client) => client.listPets({ cursor: 7n } as never)],
    ['id must be a bigint, was the string ../../admin', (client) => client.getPet('../../admin' as never)],
  ])('is rejected by its name, without a request: %s', async (message, call) => {
    const { client, requests } = await start(respond(200, '[]'));
    await expect(call(client)).rejects.toThrow(new TypeError(message));
    expect(requests).toHaveLength(0);
  });

  test.each<readonly [string, object]>([
    ...NUMBERS.map((maxRetries) => ['maxRetries must be a number, 0 or more', { maxRetries }] as const),
    ['fetch must be a function', { fetch: 'x' }],
  ])('of the client is rejected by each call: %s', async (message, options) => {
    const { url, requests } = await startServer(respond(200, '[]'));
    await expect(createClient({ url, key: KEY, ...options }).listPets()).rejects.toThrow(new TypeError(message));
    expect(requests).toHaveLength(0);
  });
});

describe('listPets', () => {
  test('sends its arguments, and returns exact integers', async () => {
    const { client, requests } = await start(respond(200, `[${REX}]`));
    const query = { limit: 5, status: 'sold', cursor: 'AQ==' } as const;
    expect(await client.listPets(query)).toEqual({ pets: [rex], next: null });
    expect(requests[0]).toMatchObject({ method: 'GET', url: '/v1/pets?limit=5&status=sold&cursor=AQ%3D%3D' });
    // The cursor of a last page begins with the first pet again.
    await client.listPets({ cursor: null });
    expect(requests[1]?.url).toBe('/v1/pets?');
  });

  test.each(['rel="next"', 'rel=next'])('returns the cursor of the next page from a Link with %s', async (rel) => {
    const link = `</v1/pets?limit=1&cursor=A%2BB>; ${rel}`;
    const { client } = await start(respond(200, `[${REX}]`, { link }));
    expect((await client.listPets({ limit: 1 })).next).toBe('A+B');
  });
});

test('allPets follows the pages to their end', async () => {
  const page = (id: number, next?: string) =>
    respond(200, [{ id, name: 'Rex', categoryId: 1 }], next ? { link: `<?cursor=${next}>;rel="next"` } : {});
  const { client, requests } = await start(page(1, 'a'), fail(503, 'service_unavailable'), page(2, 'b'), page(3));
  const ids: bigint[] = [];
  for await (const { id } of client.allPets({ status: 'sold', cursor: '0' })) ids.push(id);
  expect(ids).toEqual([1n, 2n, 3n]);
  expect(requests.map(({ url }) => url)).toEqual(
    ['0', 'a', 'a', 'b'].map((cursor) => `/v1/pets?limit=100&status=sold&cursor=${cursor}`),
  );
});

describe('createPet', () => {
  test('sends exact integers, and leaves out a status that is undefined', async () => {
    const { client, requests } = await start(created);
    expect(await client.createPet({ name: 'Rex', categoryId: -9223372036854775808n, status: undefined })).toEqual(rex);
    expect(requests[0]).toMatchObject({
      method: 'POST',
      url: '/v1/pets',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"Rex","categoryId":-9223372036854775808}',
    });
  });

  test('makes an idempotency key for each pet, or sends the one that it is given', async () => {
    const { client, requests } = await start(created);
    const idempotencyKey = '!~'.padEnd(255, 'a');
    for (const options of [{}, {}, { idempotencyKey }]) await client.createPet(newRex, options);
    const keys = requests.map(({ headers }) => headers['idempotency-key']);
    const made = expect.stringMatching(/^\d+-\d+$/);
    expect(keys).toEqual([made, made, idempotencyKey]);
    expect(new Set(keys).size).toBe(3);
  });

  test.each<readonly [string, Step]>([
    ['408', fail(408, 'invalid_request')],
    ['429', fail(429, 'too_many_requests')],
    ['500', fail(500, 'internal_error')],
    ['502 of a proxy', respond(502, '<html>')],
    ['503', fail(503, 'service_unavailable')],
    ['504 of a proxy', respond(504, '')],
    ['a connection that was reset', reset],
    ['a response that was cut off', cut],
  ])('repeats the same request after %s', async (_, step) => {
    const { client, requests } = await start(step, step, created);
    expect(await client.createPet(newRex)).toEqual(rex);
    expect(requests).toHaveLength(3);
    const sent = requests.map(({ headers, body }) => [headers['idempotency-key'], body]);
    expect(new Set(sent.map(String)).size).toBe(1);
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
    const { client, requests } = await start(fail(status, code));
    const error = await client.createPet(newRex).catch((reason) => reason);
    expect(error).toBeInstanceOf(AnimalStoreError);
    expect(error).not.toHaveProperty('cause');
    const idempotencyKey = requests[0]?.headers['idempotency-key'];
    const details = { requestId: 'request-7', idempotencyKey, message: `the message of ${code}` };
    expect(error).toMatchObject({ code, status, ...details });
    expect(requests).toHaveLength(1);
  });

  test.each([
    ['a page of HTML with 200', respond(200, '<html>'), 200],
    ['a page of HTML with 403', respond(403, '<html>'), 403],
    ['an empty list with 403', respond(403, '[]'), 403],
    ['an error body of something else', respond(400, { error: 'no' }), 400],
    ['an error without a message', respond(404, { code: 'not_found', message: {} }), 404],
    ['an error of a proxy', respond(403, { code: 'AccessDenied', message: 'no' }), 403],
    ["an error with a code of the client's own", respond(400, { code: 'no_response', message: 'no' }), 400],
    ['a pet whose id is no integer', respond(200, '[{"id":1.5,"name":"Rex","categoryId":7}]'), 200],
    ['a pet whose category is no integer', respond(200, '[{"id":1,"name":"Rex","categoryId":"7"}]'), 200],
    ['a pet without a name', respond(200, '[{"id":1,"categoryId":7}]'), 200],
    ['a pet whose status is null', respond(200, '[{"id":1,"name":"Rex","categoryId":7,"status":null}]'), 200],
    ['null', respond(200, 'null'), 200],
    ['another object', respond(200, { status: 'ok' }), 200],
    ['an error with 200', fail(200, 'invalid_request'), 200],
  ])('has the code unexpected_response after %s', async (_, step, status) => {
    const { client, requests } = await start(step);
    const message =
      status === 200
        ? 'the response is not the JSON of pets'
        : `the response has the status ${status} and no error of the service`;
    const name = 'AnimalStoreError';
    await expect(client.listPets()).rejects.toMatchObject({ name, code: 'unexpected_response', status, message });
    expect(requests).toHaveLength(1);
  });

  test.each([
    ['Node.js shows it', 307, async () => new Response('', { status: 307, headers: { location: '/elsewhere' } })],
    ['a browser hides it', undefined, async () => Response.error()],
  ])('says that it was redirected, as %s', async (_, status, redirect) => {
    const fetch = vi.fn(redirect);
    const call = createClient({ ...OPTIONS, fetch }).createPet(newRex, { idempotencyKey: 'order-17' });
    const message = 'the response is a redirection: url must be that of the service';
    const expected = { code: 'unexpected_response', status, message, idempotencyKey: 'order-17' };
    await expect(call).rejects.toMatchObject(expected);
    expect(fetch).toHaveBeenCalledOnce();
  });
});

describe('a call that is repeated', () => {
  /** The pauses from now on, none of which is waited for, without a random part. */
  function pausesOf(): number[] {
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
    const fetch = vi.fn(async () => new Response(REX));
    fetch.mockResolvedValueOnce(new Response('', { status: 503, headers }));
    await createClient({ ...OPTIONS, fetch, timeout: Number.POSITIVE_INFINITY }).createPet(newRex);
    vi.restoreAllMocks();
    expect(pauses).toEqual(expected);
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  test('rejects with the last error if Retry-After is more than a number can hold', async () => {
    const fetch = vi.fn(async () => new Response('', { status: 503, headers: { 'retry-after': '9'.repeat(400) } }));
    const call = createClient({ ...OPTIONS, fetch, timeout: Number.POSITIVE_INFINITY }).createPet(newRex);
    await expect(call).rejects.toMatchObject({ status: 503 });
    expect(fetch).toHaveBeenCalledOnce();
  });

  test('waits twice as long at most after each attempt, up to 5 seconds', async () => {
    const pauses = pausesOf();
    vi.spyOn(globalThis, 'fetch').mockImplementation(async () =>
      pauses.length < 8 ? new Response('', { status: 503 }) : new Response(REX),
    );
    const { signal } = new AbortController();
    const removed = vi.spyOn(signal, 'removeEventListener');
    await createClient(OPTIONS).getPet(1n, { signal });
    const events = removed.mock.calls.map(([event]) => event);
    vi.restoreAllMocks();
    expect(pauses).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
    // A signal of many calls holds on to none that has ended.
    expect(events).toEqual(Array(8).fill('abort'));
  });

  test.each([0, 2])('is repeated %i times at most, each time after a call of onRetry', async (maxRetries) => {
    const { url, requests } = await startServer(reset);
    const onRetry = vi.fn();
    const call = createClient({ url, key: KEY, maxRetries, onRetry }).createPet(newRex);
    const { code, idempotencyKey } = await call.catch((reason) => reason);
    const sent = requests.map(({ headers }) => headers['idempotency-key']);
    expect(sent).toEqual(Array(1 + maxRetries).fill(idempotencyKey));
    const calls = [1, 2].map((retry) => [expect.objectContaining({ code, idempotencyKey }), retry]);
    expect(onRetry.mock.calls).toEqual(calls.slice(0, maxRetries));
  });

  test.each([
    ['seconds', () => '60'],
    ['a date', () => new Date(Date.now() + 60_000).toUTCString()],
  ])('rejects with the last error if Retry-After exceeds its timeout, in %s', async (_, retryAfter) => {
    const { client, requests } = await start(fail(503, 'service_unavailable', { 'retry-after': retryAfter() }));
    const error = await client.listPets().catch((reason) => reason);
    expect(error).toMatchObject({ code: 'service_unavailable', status: 503 });
    expect(error.retryAfter).toSatisfy(Number.isInteger);
    expect(error.retryAfter).toBeGreaterThan(30);
    expect(error.retryAfter).toBeLessThanOrEqual(60);
    expect(requests).toHaveLength(1);
  });

  test('rejects at its timeout', async () => {
    const { client, requests } = await start(reset);
    const error = await client.listPets({}, { timeout: 500 }).catch((reason) => reason);
    expect(error).toMatchObject({ code: 'no_response', status: undefined, cause: expect.any(Error) });
    expect(error.message).toMatch(/^no response from http:\/\/127\.0\.0\.1:\d+\/v1\/pets\?: ./);
    expect(requests.length).toBeGreaterThan(1);
  });

  test('rejects at its timeout if the service is silent, and at that of the client if it has none', async () => {
    const { client, url } = await start(silent);
    await expect(client.listPets({}, { timeout: 100 })).rejects.toMatchObject({ code: 'no_response' });
    const impatient = createClient({ url, key: KEY, timeout: 100 });
    await expect(impatient.listPets({}, { timeout: undefined })).rejects.toMatchObject({ code: 'no_response' });
  });
});

describe('a signal', () => {
  test('ends a call that has been sent', async () => {
    const controller = new AbortController();
    const { client, requests } = await start(() => controller.abort(new Error('enough')));
    await expect(client.listPets({}, { signal: controller.signal })).rejects.toThrow('enough');
    expect(requests).toHaveLength(1);
  });

  test('ends a call that waits for its next attempt', async () => {
    const controller = new AbortController();
    const [started, cleared] = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'clearTimeout')];
    const { client, requests } = await start(fail(503, 'service_unavailable', { 'retry-after': '20' }));
    const call = client.createPet(newRex, { signal: controller.signal });
    const pauseAt = () => started.mock.calls.findIndex(([, time]) => time !== undefined && time >= 20_000);
    await expect.poll(pauseAt).toBeGreaterThanOrEqual(0);
    const pause = pauseAt();
    controller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    expect(requests).toHaveLength(1);
    expect(cleared.mock.calls).toContainEqual([started.mock.results[pause]?.value]);
    vi.restoreAllMocks();
  });

  test('rejects the call without a request if it was aborted before', async () => {
    const { client, requests } = await start(created);
    const signal = AbortSignal.abort(new Error('before'));
    await expect(client.createPet(newRex, { signal })).rejects.toThrow('before');
    expect(requests).toHaveLength(0);
  });

  test('ends a call before its next attempt, although the fetch of the caller ignores it', async () => {
    const controller = new AbortController();
    const fetch = vi.fn(async () => new Response('', { status: 503 }));
    const onRetry = () => controller.abort(new Error('enough'));
    const call = createClient({ ...OPTIONS, fetch, onRetry }).createPet(newRex, { signal: controller.signal });
    await expect(call).rejects.toThrow('enough');
    expect(fetch).toHaveBeenCalledOnce();
  });
});

test('each deprecated operation is reported once, by its first response', async () => {
  const headers = { deprecation: '@1760000000', sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' };
  const { url, requests } = await startServer(
    fail(404, 'pet_not_found', headers),
    ...[REX, `[${REX}]`, REX].map((body) => respond(200, body, headers)),
  );
  const onDeprecation = vi.fn();
  const client = createClient({ url, key: KEY, onDeprecation });
  await expect(client.getPet(rex.id)).rejects.toMatchObject({ code: 'pet_not_found' });
  expect(onDeprecation).toHaveBeenCalledOnce();
  expect(await client.getPet(rex.id)).toEqual(rex);
  expect(requests.map(({ url }) => url)).toEqual(Array(2).fill('/v1/pets/9007199254740991'));
  await client.listPets();
  await client.createPet(newRex);
  expect(onDeprecation.mock.calls).toEqual(
    ['getPet', 'listPets', 'createPet'].map((operation) => [
      `${operation} of the Animal Store is deprecated: it ends on Thu, 05 Dec 2030 00:00:00 GMT`,
    ]),
  );
});

test('an error that onDeprecation throws ends the call', async () => {
  const { url, requests } = await startServer(respond(200, REX, { deprecation: '@1760000000' }));
  const onDeprecation = () => {
    throw new Error('mine');
  };
  await expect(createClient({ url, key: KEY, onDeprecation }).getPet(rex.id)).rejects.toThrow(new Error('mine'));
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

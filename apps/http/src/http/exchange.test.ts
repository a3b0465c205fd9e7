import { type Rejected, Rejection } from '@animal-store/http-server';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  combineObservers,
  createHandlers,
  createRejectionRenderer,
  type Exchange,
  type HandlerDependencies,
  type Responder,
} from './exchange.ts';
import { HttpError } from './http-error.ts';
import { JSON_ONLY, jsonHeaders } from './response.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

/** The exchange of a request with this header field, as observers see it. */
function exchangeOf(traceparent: string): Exchange | undefined {
  const exchanges: Exchange[] = [];
  const observe = (exchange: Exchange) => void exchanges.push(exchange);
  const rejected = { request: { headers: { traceparent } }, socket: {} } as unknown as Rejected;
  createRejectionRenderer(observe, 0)(new Rejection(400, 'malformed'), rejected);
  return exchanges[0];
}

test('combineObservers notifies each observer, and reports what one of them throws', () => {
  const error = new Error('a defect');
  const [seen, errors] = [[] as unknown[], [] as unknown[]];
  const fail = () => {
    throw error;
  };
  const given = [{} as Exchange, { status: 200 }, 2, 1.5] as const;
  combineObservers([fail, (...observed) => void seen.push(observed)], (thrown) => errors.push(thrown))(...given);
  expect([seen, errors]).toEqual([[given], [error]]);
});

test.each([
  [{ method: 'GET', headers: { 'x-request-id': 'one' } }, 'GET', 'unmatched', 'one'],
  [{ method: 'CONNECT', headers: {} }, 'CONNECT', 'unparsable', expect.any(String)],
  [null, '-', 'unparsable', expect.any(String)],
])('the rejection of %j is an Error body, and is observed with its length', (request, method, route, id) => {
  const observed: unknown[] = [];
  const observe = (exchange: Exchange, { status }: { status: number }, bytes: number, duration: number) =>
    void observed.push({ exchange, status, bytes, duration });
  const rejected = { request, socket: { remoteAddress: '203.0.113.7' } } as unknown as Rejected;
  const { headers, body } = createRejectionRenderer(observe, 0)(new Rejection(400, 'größer'), rejected);
  expect(JSON.parse(body)).toEqual({ code: 'invalid_request', message: 'größer', status: 400 });
  const exchange = { id, method, route, traceId: null, client: '203.0.113.7', key: null, unavailable: null };
  expect(observed).toEqual([
    { exchange: expect.objectContaining(exchange), status: 400, bytes: Buffer.byteLength(body), duration: 0 },
  ]);
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'x-content-type-options': 'nosniff',
    'x-request-id': id,
  });
});

/** Calls the handler of a route, and collects what it reports. */
function handle(
  responder: Responder,
  { headers = {}, route = {}, ...others }: { headers?: object; route?: object } & Partial<HandlerDependencies> = {},
) {
  const observed: { exchange: Exchange; status: number; bytes: number; duration: number; inFlight: number }[] = [];
  const errors: unknown[][] = [];
  const inFlight = { count: 0 };
  const createHandler = createHandlers({
    observe: (exchange, { status }, bytes, duration) =>
      void observed.push({ exchange, status, bytes, duration, inFlight: inFlight.count }),
    inFlight,
    onUnexpectedError: (...error) => void errors.push(error),
    trustedProxies: 0,
    originHeaders: null,
    ...others,
  });
  const incoming = { method: 'GET', headers, socket: { remoteAddress: '203.0.113.7' } };
  const request = { env: { incoming } } as unknown as Parameters<Responder>[0];
  return { response: createHandler('/v1/pets', responder, { ...route })(request), observed, errors, inFlight };
}

const now: <T>(value: T) => T = (value) => value;
const later = <T>(value: T) => new Promise<T>((resolve) => setTimeout(() => resolve(value), 25));

describe.each([
  ['at once', now, 0],
  ['later', later, 25],
] as const)('a handler that responds %s', (_, when, duration) => {
  afterEach(() => void vi.useRealTimers());

  /** Lets the time of the response pass. */
  async function responded(...given: Parameters<typeof handle>) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    vi.advanceTimersByTime(10_000);
    const { response, ...handled } = handle(...given);
    expect(handled.inFlight.count).toBe(duration === 0 ? 0 : 1);
    await vi.advanceTimersByTimeAsync(duration);
    expect(handled.inFlight.count).toBe(0);
    return { response: await response, ...handled };
  }

  const failWith = (error: unknown) => () => {
    const fail = () => {
      throw error;
    };
    return duration === 0 ? fail() : later(null).then(fail);
  };

  test.each([
    ['größer', 8],
    [Buffer.from('größer'), 8],
    [null, 0],
  ])('sends the body %j, and observes its length and its time', async (body, bytes) => {
    const { response, observed, errors } = await responded(() => when({ status: 201, headers: JSON_ONLY, body }));
    expect([response.status, await response.text()]).toEqual([201, body === null ? '' : String(body)]);
    const exchange = { method: 'GET', route: '/v1/pets', client: '203.0.113.7', unavailable: null };
    expect(observed).toEqual([
      { exchange: expect.objectContaining(exchange), status: 201, bytes, duration, inFlight: 0 },
    ]);
    expect(errors).toEqual([]);
  });

  test('responds to an unexpected error with 500, and reports it under the id of the request', async () => {
    const error = new TypeError('secret');
    const { response, observed, errors } = await responded(failWith(error), { headers: { 'x-request-id': 'one' } });
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ code: 'internal_error', status: 500 });
    expect(text).not.toContain('secret');
    expect(response.headers.get('x-request-id')).toBe('one');
    expect(observed).toMatchObject([{ status: 500, bytes: text.length, exchange: { unavailable: null } }]);
    expect(errors).toEqual([[error, 'one']]);
  });

  test('responds with an expected error, and reports only why it is unavailable', async () => {
    const error = HttpError.unavailable('overload', 'overloaded');
    const { response, observed, errors } = await responded(failWith(error));
    expect(await response.json()).toEqual({ code: 'service_unavailable', message: 'overloaded', status: 503 });
    expect(response.headers.get('retry-after')).toBe('1');
    expect(observed).toMatchObject([{ status: 503, exchange: { unavailable: { reason: 'overload', error } } }]);
    expect(errors).toEqual([]);
  });
});

describe('a response', () => {
  /** The header fields of a response that has these itself, on a route with fields of its own. */
  const fieldsOf = async (own: object, options: Parameters<typeof handle>[1] = {}) => {
    const responder: Responder = () => ({ status: 200, headers: { ...own }, body: '[]' });
    const { headers } = await handle(responder, { route: { sunset: 'soon' }, ...options }).response;
    return Object.fromEntries(headers);
  };
  const FIXED = {
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-request-id': expect.stringMatching(/^[\da-f-]{36}$/),
  };

  test('has its own header fields, those of its route, those for security, and the id of the request', async () => {
    const own = { 'content-type': 'application/json', link: '</v1/pets>' };
    expect(await fieldsOf(own)).toEqual({ ...FIXED, ...own, sunset: 'soon' });
    const { headers } = await handle(() => ({ status: 200, headers: JSON_ONLY, body: '[]' })).response;
    expect(Object.fromEntries(headers)).toEqual({ ...FIXED, 'content-type': 'application/json' });
  });

  test('may be cached if it says so', async () => {
    expect(await fieldsOf(jsonHeaders({ 'cache-control': 'max-age=60' }))).toMatchObject({
      'cache-control': 'max-age=60',
    });
  });

  test('has the header fields for the origin of the request', async () => {
    const originHeaders = (origin: string | undefined) => ({ 'access-control-allow-origin': `${origin}` });
    const headers = { origin: 'https://a.example' };
    expect(await fieldsOf({}, { headers, originHeaders })).toMatchObject({
      ...FIXED,
      sunset: 'soon',
      'access-control-allow-origin': 'https://a.example',
    });
  });
});

test.each([
  ['x', true],
  ['a.b:c/d+e=f@g-h_i', true],
  ['x'.repeat(128), true],
  ['x'.repeat(129), false],
  ['', false],
  [' x', false],
  ['x y', false],
  ['x"', false],
])('an exchange has the X-Request-Id %j as its id: %s', async (id, isKept) => {
  const { response } = handle(() => ({ status: 200, headers: {}, body: null }), { headers: { 'x-request-id': id } });
  expect((await response).headers.get('x-request-id') === id).toBe(isKept);
});

describe('the trace id of an exchange', () => {
  test.each([
    [`00-${TRACE_ID}-00f067aa0ba902b7-01`, TRACE_ID],
    [`00-${TRACE_ID}-00f067aa0ba902b7-00`, TRACE_ID],
    [`00-0${TRACE_ID.slice(1)}-00f067aa0ba902b7-01`, `0${TRACE_ID.slice(1)}`],
    // Only the beginning of a later version is known.
    [`cc-${TRACE_ID}-00f067aa0ba902b7-01-what-comes`, TRACE_ID],
    [`00-${TRACE_ID}-00f067aa0ba902b7-01-what-comes`, null],
    [`ff-${TRACE_ID}-00f067aa0ba902b7-01`, null],
    [`cc-${TRACE_ID}-00f067aa0ba902b7-01x`, null],
    [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, null],
    [`00-${TRACE_ID}-${'0'.repeat(16)}-01`, null],
    [`00-${TRACE_ID.toUpperCase()}-00f067aa0ba902b7-01`, null],
    [`00-${TRACE_ID}-00f067aa0ba902b7`, null],
    [`x00-${TRACE_ID}-00f067aa0ba902b7-01`, null],
    ['', null],
  ])('is read from the traceparent %j: %j', (traceparent, traceId) => {
    expect(exchangeOf(traceparent)?.traceId).toBe(traceId);
  });
});

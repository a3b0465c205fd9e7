import { type Rejected, Rejection } from '@animal-store/http-server';
import { describe, expect, test } from 'vitest';
import { combineObservers, createRejectionRenderer, type Exchange } from './exchange.ts';

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

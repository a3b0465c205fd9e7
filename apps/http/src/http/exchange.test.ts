import { type Rejected, Rejection } from '@animal-store/http-server';
import { describe, expect, test } from 'vitest';
import { createRejectionRenderer, type Exchange } from './exchange.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

/** The exchange of a request with this header field, as observers see it. */
function exchangeOf(traceparent: string): Exchange | undefined {
  const exchanges: Exchange[] = [];
  const observe = (exchange: Exchange) => void exchanges.push(exchange);
  const rejected = { request: { headers: { traceparent } }, socket: {} } as unknown as Rejected;
  createRejectionRenderer(observe, 0)(new Rejection(400, 'malformed'), rejected);
  return exchanges[0];
}

describe('the trace id of an exchange', () => {
  test.each([
    [`00-${TRACE_ID}-00f067aa0ba902b7-01`, TRACE_ID],
    [`00-${TRACE_ID}-00f067aa0ba902b7-00`, TRACE_ID],
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

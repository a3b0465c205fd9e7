import { describe, expect, test } from 'vitest';
import { beginExchange } from './exchange.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

describe('beginExchange', () => {
  test.each([
    [`00-${TRACE_ID}-00f067aa0ba902b7-01`, TRACE_ID],
    [`00-${TRACE_ID}-00f067aa0ba902b7-00`, TRACE_ID],
    // Of a later version only the beginning is known.
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
  ])('reads the traceparent %j as the trace id %j', (traceparent, traceId) => {
    expect(beginExchange({ traceparent }, 'GET', '/v1/pets', {}, null).traceId).toBe(traceId);
  });
});

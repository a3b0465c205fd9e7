import { type Span, trace } from '@opentelemetry/api';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Exchange } from '../http/exchange.ts';
import { completeSpan } from './tracing.ts';

/** Completes the span of a request of this route. */
function complete(route: string, isTraced = true) {
  const span = { spanContext: () => ({ traceId: 'its id' }), updateName: vi.fn(), setAttribute: vi.fn() };
  vi.spyOn(trace, 'getActiveSpan').mockReturnValue(isTraced ? (span as unknown as Span) : undefined);
  onTestFinished(() => void vi.restoreAllMocks());
  const exchange = { method: 'GET', route, traceId: 'given' } as Exchange;
  completeSpan(exchange, { status: 200 }, 0, 0);
  return { span, exchange };
}

test('completeSpan names the span by the route, and the exchange by the trace', () => {
  const { span, exchange } = complete('/v1/pets');
  expect(exchange.traceId).toBe('its id');
  expect(span.updateName.mock.calls).toEqual([['GET /v1/pets']]);
  expect(span.setAttribute.mock.calls).toEqual([['http.route', '/v1/pets']]);
});

test('completeSpan gives a request without a route no name', () => {
  const { span, exchange } = complete('unmatched');
  expect(exchange.traceId).toBe('its id');
  expect([span.updateName.mock.calls, span.setAttribute.mock.calls]).toEqual([[], []]);
});

test('completeSpan changes nothing without a tracer', () => {
  expect(complete('/v1/pets', false).exchange.traceId).toBe('given');
});

import { trace } from '@opentelemetry/api';
import type { Observer } from '../http/exchange.ts';

/**
 * Completes the span that OpenTelemetry's instrumentation of node:http makes of a request: it can't know the route. Does nothing
 * unless an OpenTelemetry SDK is loaded (`node --import`).
 */
export const completeSpan: Observer = (exchange) => {
  const span = trace.getActiveSpan();
  if (span === undefined) return;
  const { method, route } = exchange;
  exchange.traceId = span.spanContext().traceId;
  // The name "unmatched" is no route.
  if (!route.startsWith('/')) return;
  span.updateName(`${method} ${route}`);
  span.setAttribute('http.route', route);
};

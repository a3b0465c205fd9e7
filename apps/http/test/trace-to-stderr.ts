// Loaded with --import: traces the process with OpenTelemetry and writes each span to standard error, one JSON object a line.

import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { type SpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';

const processor: SpanProcessor = {
  onStart() {},
  onEnd(span) {
    const { name, attributes } = span;
    const { traceId } = span.spanContext();
    process.stderr.write(`${JSON.stringify({ name, traceId, route: attributes['http.route'] ?? null })}\n`);
  },
  async forceFlush() {},
  async shutdown() {},
};
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [processor] }));
registerInstrumentations({ instrumentations: [new HttpInstrumentation()] });

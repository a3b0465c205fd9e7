import { Counter, type Registry } from 'prom-client';

/**
 * Registers a counter of events by reason. Every reason starts at 0, so that the first event is an increase.
 *
 * @returns Counts one event.
 */
export function registerCountsByReason<R extends string>(
  registry: Registry,
  { name, help }: { name: string; help: string },
  reasons: readonly R[],
): (reason: R) => void {
  const counter = new Counter({ name, help, labelNames: ['reason'], registers: [registry] });
  for (const reason of reasons) counter.inc({ reason }, 0);
  return (reason) => counter.inc({ reason });
}

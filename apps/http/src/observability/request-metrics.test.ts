import { createMetrics } from '@animal-store/observability';
import { expect, test } from 'vitest';
import type { Exchange } from '../http/exchange.ts';
import { createRequestMetrics } from './request-metrics.ts';

test('counts requests, their durations, the reasons of 503, requests in flight and dropped connections', async () => {
  const { registry, read } = createMetrics({ version: '1.0.0' }, () => 0);
  const { observe, inFlight, countDrop } = createRequestMetrics(registry);
  const see = (method: string, status: number, duration: number, reason?: string) =>
    observe(
      { method, route: '/v1/pets', unavailable: reason ? { reason } : null } as Exchange,
      { status },
      2,
      duration,
    );
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) see(method, 200, 1_500);
  see('GET', 200, 500);
  see('LOCK', 405, 0);
  see('MOVE', 405, 0);
  see('GET', 503, 0, 'overload');
  expect(inFlight.count).toBe(0);
  inFlight.count = 3;
  countDrop('requests');

  const text = await read();
  const samples = (name: string) =>
    text.match(new RegExp(`^${name}(?:\\{| ).*`, 'gm'))?.map((line) => line.slice(name.length));
  const labelled = (method: string, status: number) => `{method="${method}",route="/v1/pets",status="${status}"}`;
  expect(samples('http_request_duration_seconds_count')?.sort()).toEqual(
    [
      `${labelled('GET', 200)} 2`,
      ...['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) => `${labelled(method, 200)} 1`),
      `${labelled('other', 405)} 2`,
      `${labelled('GET', 503)} 1`,
    ].sort(),
  );
  expect(samples('http_request_duration_seconds_sum')).toContain(`${labelled('GET', 200)} 2`);
  expect(samples('http_requests_in_flight')).toEqual([' 3']);
  expect(samples('animal_store_unavailable_total')).toEqual([
    '{reason="storage"} 0',
    '{reason="overload"} 1',
    '{reason="stopping"} 0',
  ]);
  expect(samples('animal_store_connections_dropped_total')?.sort()).toEqual([
    '{reason="connections"} 0',
    '{reason="requests"} 1',
  ]);
  expect(samples('# HELP http_request_duration_seconds')).toEqual([
    ' Time from the header section of a request to its response, by method, route and status.',
  ]);
});

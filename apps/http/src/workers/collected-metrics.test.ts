import type { Worker } from 'node:cluster';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { collectMetrics } from './collected-metrics.ts';
import type { ToSupervisor, ToWorker } from './messages.ts';

type Snapshot = Extract<ToSupervisor, { readonly type: 'collected' }>['snapshot'];

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** The metrics of a worker that has served this many requests, of which as many are in flight. */
function snapshotOf(requests: number, startedAt = 0): Snapshot {
  const metric = (name: string, type: string, aggregator: string, value: number) => {
    return { name, type, aggregator, help: 'of a worker', values: [{ value, labels: {} }] };
  };
  return [
    metric('requests_total', 'counter', 'sum', requests),
    metric('requests_in_flight', 'gauge', 'sum', requests),
    metric('animal_store_log_lines_lost_total', 'counter', 'sum', 1),
    metric('process_start_time_seconds', 'gauge', 'first', startedAt),
  ] as unknown as Snapshot;
}

/** Two workers, and what they are sent. */
function start() {
  const running = new Set<Worker>();
  const metrics = collectMetrics(running, () => 5);
  const add = () => {
    const sent: ToWorker[] = [];
    const state = { isConnected: true };
    const worker = {
      isConnected: () => state.isConnected,
      send: (message: ToWorker) => void sent.push(message),
    } as unknown as Worker;
    running.add(worker);
    return {
      sent,
      state,
      collected: (snapshot: Snapshot) => metrics.receive(worker, { type: 'collected', snapshot }),
      becomeReady: () => metrics.receive(worker, { type: 'ready' }),
      read: () => metrics.receive(worker, { type: 'read metrics' }),
      end() {
        running.delete(worker);
        metrics.retire(worker);
      },
      /** The sample of a metric in the last text that the worker got. */
      sample(name: string) {
        const last = sent.at(-1);
        return last?.type === 'metrics' ? new RegExp(`^${name} (.+)$`, 'm').exec(last.text)?.[1] : null;
      },
    };
  };
  return { a: add(), b: add() };
}

const soon = () => vi.advanceTimersByTimeAsync(0);

describe('collectMetrics', () => {
  test('sums the metrics of all workers, and adds the log lines that the supervisor lost', async () => {
    const { a, b } = start();
    a.read();
    expect([a.sent, b.sent]).toEqual([[{ type: 'collect' }], [{ type: 'collect' }]]);
    a.collected(snapshotOf(1, 200));
    await soon();
    expect(a.sent).toHaveLength(1);
    b.collected(snapshotOf(2, 100));
    await soon();
    expect(['requests_total', 'requests_in_flight'].map(a.sample)).toEqual(['3', '3']);
    expect(a.sample('animal_store_log_lines_lost_total')).toBe('7');
    expect(a.sample('process_start_time_seconds')).toBe('200');
    for (const name of ['animal_store_log_lines_lost_total counter', 'process_start_time_seconds gauge']) {
      expect(a.sample(`# TYPE ${name.split(' ')[0]}`)).toBe(name.split(' ')[1]);
      expect(a.sample(`# HELP ${name.split(' ')[0]}`)).toMatch(/\w/);
    }
    expect(b.sent).toHaveLength(1);
  });

  test('collects the metrics once for several workers that read them', async () => {
    const { a, b } = start();
    a.read();
    b.read();
    for (const worker of [a, b]) worker.collected(snapshotOf(1));
    await soon();
    expect([a.sent, b.sent].map((sent) => sent.map(({ type }) => type))).toEqual([
      ['collect', 'metrics'],
      ['collect', 'metrics'],
    ]);
  });

  test('uses the last metrics of a worker that does not respond within a second', async () => {
    const { a, b } = start();
    b.collected(snapshotOf(2));
    a.read();
    a.collected(snapshotOf(1));
    await vi.advanceTimersByTimeAsync(999);
    expect(a.sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(a.sample('requests_total')).toBe('3');
  });

  test('keeps the counters of a worker that has ended, but not its gauges', async () => {
    const { a, b } = start();
    b.collected(snapshotOf(2));
    a.read();
    a.collected(snapshotOf(1));
    b.end();
    await soon();
    expect(['requests_total', 'requests_in_flight'].map(a.sample)).toEqual(['3', '1']);
    a.read();
    a.collected(snapshotOf(4));
    await soon();
    expect(a.sample('requests_total')).toBe('6');
  });

  test('sums the metrics of the others if a worker has begun or ended without any', async () => {
    const { a, b } = start();
    b.becomeReady();
    a.collected(snapshotOf(1));
    a.read();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(a.sample('requests_total')).toBe('1');
    b.end();
    a.read();
    a.collected(snapshotOf(2));
    await soon();
    expect(a.sample('requests_total')).toBe('2');
  });

  test('does not wait for a worker that ended before the metrics were read', async () => {
    const { a, b } = start();
    b.end();
    a.read();
    a.collected(snapshotOf(1));
    await soon();
    expect(a.sample('requests_total')).toBe('1');
  });

  test('sends nothing to a worker that has disconnected', async () => {
    const { a, b } = start();
    a.read();
    a.collected(snapshotOf(1));
    b.collected(snapshotOf(1));
    a.state.isConnected = false;
    await soon();
    expect(a.sent).toHaveLength(1);
  });
});

import { readFileSync } from 'node:fs';
import { freshFile } from '@animal-store/test-kit/fresh-folder';
import { expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { MONITORING, promtool, readMetrics } from './programs.ts';

const FILE = new URL('alerts.yaml', MONITORING);
const alerts: string[] = parse(readFileSync(FILE, 'utf8')).groups[0].rules.map((rule: { alert: string }) => rule.alert);

/** Seconds between two scrapes, as scrape.yaml says. */
const INTERVAL = 15;
const MINUTE = 60;

/** The value of a series at a time in seconds; undefined if the instance has none. */
type Values = (time: number) => number | undefined;

const constant = (value: number) => () => value;
/** 1 from one time to another, otherwise 0. */
const during = (from: number, to: number) => (time: number) => Number(time >= from && time < to);
/** A counter that begins at 0 and grows by this much a scrape from one time to another. */
const growing = (rate: number, from = 0, to = Number.POSITIVE_INFINITY) => {
  return (time: number) => (rate * Math.max(0, Math.min(time, to) - from)) / INTERVAL;
};

const READS = 'http_request_duration_seconds_count{method="GET",route="/v1/pets",status="200"}';
/** The buckets of durations up to half a second, and of all, which are at most a second. */
const buckets = (metric: string, labels: string, fast: Values, all: Values): Readonly<Record<string, Values>> => ({
  [`${metric}_bucket{le="0.5",${labels}}`]: fast,
  [`${metric}_bucket{le="1",${labels}}`]: all,
  [`${metric}_bucket{le="+Inf",${labels}}`]: all,
});
const requests = (method: string, fast: Values, all: Values) =>
  buckets(
    'http_request_duration_seconds',
    `method="${method}",route="/v1/pets",status="${method === 'GET' ? 200 : 201}"`,
    fast,
    all,
  );
const creations = (fast: Values, all: Values) =>
  buckets('storage_call_duration_seconds', 'operation="pets.add",outcome="ok"', fast, all);

/** What an instance exports that has been started an hour ago and serves requests. */
const HEALTHY: Readonly<Record<string, Values>> = {
  process_start_time_seconds: constant(-60 * MINUTE),
  storage_up: constant(1),
  internal_errors_total: constant(0),
  log_lines_dropped_total: constant(0),
  nodejs_eventloop_lag_p99_seconds: constant(0.01),
  'storage_call_failures_total{operation="pets.page",outcome="unavailable"}': constant(0),
  [READS]: growing(50),
  ...requests('GET', growing(50), growing(50)),
  ...creations(growing(50), growing(50)),
};

const UNAVAILABLE = READS.replace('200', '503');
const FAILURES = 'storage_call_failures_total{operation="pets.page",outcome="unavailable"}';

/** When everything begins. */
const AT = 20 * MINUTE;

const outage = (seconds: number): Readonly<Record<string, Values>> => ({
  storage_up: (time) => 1 - during(AT, AT + seconds)(time),
  [READS]: (time) => growing(50)(time) - growing(50, AT, AT + seconds)(time),
  [UNAVAILABLE]: growing(50, AT, AT + seconds),
  [FAILURES]: growing(50, AT, AT + seconds),
});

/** Of the requests 1 in 5 is slow for a time. */
const slow = (seconds = Number.POSITIVE_INFINITY): Values => {
  return (time) => growing(40)(time) + growing(10, AT, AT + seconds)(time);
};

/** Starts at these times. */
const starts = (...times: number[]): Values => {
  return (time) => times.findLast((start) => start <= time) ?? -60 * MINUTE;
};

const everyHalfMinute = Array.from({ length: 20 }, (_, index) => AT + index * 30);
const deployments = [0, 5, 10].map((minutes) => AT + minutes * MINUTE);

interface Defect {
  readonly what: string;
  /** What differs from a healthy instance. */
  readonly values?: Readonly<Record<string, Values>>;
  /** When it does not respond. */
  readonly down?: (time: number) => boolean;
  /** When Prometheus has no target. */
  readonly gone?: (time: number) => boolean;
  /** From when until when alerts fire: none other does. */
  readonly fires?: Readonly<Record<string, readonly [number, number]>>;
}

const END = 60 * MINUTE;

const DEFECTS: readonly Defect[] = [
  { what: 'is healthy' },
  {
    what: 'gets no requests',
    values: { [READS]: constant(7), ...requests('GET', constant(7), constant(7)) },
  },
  {
    what: 'had defects, dropped lines and failing calls before Prometheus was started',
    values: { internal_errors_total: constant(9), log_lines_dropped_total: constant(9), [FAILURES]: constant(9) },
  },
  {
    what: 'has its first defect',
    values: { internal_errors_total: during(AT, END) },
    fires: { AnimalStoreUnexpectedErrors: [AT, AT + 5 * MINUTE] },
  },
  {
    what: 'has a defect before its first scrape',
    values: { process_start_time_seconds: starts(AT), internal_errors_total: during(AT, END) },
    fires: { AnimalStoreUnexpectedErrors: [AT, AT + 5 * MINUTE] },
  },
  {
    what: 'has six failing calls of the storage',
    values: { [FAILURES]: (time) => 6 * during(AT, END)(time) },
    fires: { AnimalStoreStorageFailing: [AT, AT + 5 * MINUTE] },
  },
  {
    what: 'has six failing calls of the storage before its first scrape',
    values: { process_start_time_seconds: starts(AT), [FAILURES]: (time) => (time < AT ? undefined : 6) },
    fires: { AnimalStoreStorageFailing: [AT, AT + 5 * MINUTE] },
  },
  {
    what: 'drops lines of its log',
    values: { log_lines_dropped_total: during(AT, END) },
    fires: { AnimalStoreLogLinesDropped: [AT, AT + 5 * MINUTE] },
  },
  {
    what: 'drops lines of its log before its first scrape',
    values: { process_start_time_seconds: starts(AT), log_lines_dropped_total: during(AT, END) },
    fires: { AnimalStoreLogLinesDropped: [AT, AT + 5 * MINUTE] },
  },
  ...[15, 30, 45].map((seconds) => ({
    what: `is without its storage for ${seconds} s`,
    values: outage(seconds),
    fires: { AnimalStoreStorageFailing: [AT, AT + seconds + 5 * MINUTE] as const },
  })),
  {
    what: 'is without its storage for 5 minutes',
    values: outage(5 * MINUTE),
    fires: {
      AnimalStoreStorageDown: [AT + MINUTE, AT + 5 * MINUTE],
      AnimalStoreUnavailable: [AT + 3 * MINUTE + INTERVAL, AT + 7 * MINUTE],
      AnimalStoreStorageFailing: [AT, AT + 10 * MINUTE],
    },
  },
  {
    what: 'responds with 503 to 1 in 50 requests, among many without a key',
    values: { [UNAVAILABLE]: growing(1, AT), [READS.replace('200', '401')]: growing(500) },
    // The window of 2 minutes has enough of them after one.
    fires: { AnimalStoreUnavailable: [AT + 4 * MINUTE, END] },
  },
  {
    what: 'is deployed three times in 15 minutes, each in 45 s',
    values: { process_start_time_seconds: starts(...deployments) },
    down: (time) => deployments.some((begin) => time >= begin - 45 && time < begin),
  },
  {
    what: 'restarts every 30 s',
    values: { process_start_time_seconds: starts(...everyHalfMinute) },
    // Four of these restarts are enough, and the last three are not.
    fires: { AnimalStoreRestarting: [AT + 3 * 30, AT + 16 * 30 + 15 * MINUTE] },
  },
  {
    what: 'does not respond for 5 minutes',
    down: (time) => time >= AT && time < AT + 5 * MINUTE,
    fires: { AnimalStoreDown: [AT + MINUTE, AT + 5 * MINUTE] },
  },
  { what: 'is no target any more', gone: (time) => time >= AT, fires: { AnimalStoreDown: [AT + MINUTE, END] } },
  { what: 'has slow reads for 4 minutes', values: requests('GET', growing(40), slow(4 * MINUTE)) },
  {
    what: 'has slow reads',
    values: requests('GET', growing(40), slow()),
    fires: { AnimalStoreSlow: [AT + 10 * MINUTE, END] },
  },
  {
    what: 'has slow creations',
    values: creations(growing(40), slow()),
    fires: { AnimalStoreSlow: [AT + 10 * MINUTE, END] },
  },
  { what: 'gets bodies that take seconds to arrive', values: requests('POST', growing(40), slow()) },
  {
    what: 'has a delayed event loop',
    values: { nodejs_eventloop_lag_p99_seconds: (time) => (time < AT ? 0.01 : 0.06) },
    fires: { AnimalStoreEventLoopDelayed: [AT + 5 * MINUTE, END] },
  },
  {
    what: 'is on a machine whose disk fills',
    values: {
      'node_filesystem_size_bytes{mountpoint="/"}': constant(1_000),
      'node_filesystem_avail_bytes{mountpoint="/"}': (time) => (time < AT ? 101 : 99),
      'node_filesystem_readonly{mountpoint="/"}': constant(0),
      // An image of a program is always full.
      'node_filesystem_size_bytes{mountpoint="/snap"}': constant(1_000),
      'node_filesystem_avail_bytes{mountpoint="/snap"}': constant(0),
      'node_filesystem_readonly{mountpoint="/snap"}': constant(1),
    },
    fires: { AnimalStoreDiskFull: [AT + 5 * MINUTE, END] },
  },
];

test.skipIf(inject('missing').includes('promtool')).each(DEFECTS)(
  'the alerts name what an instance has that $what',
  ({ values = {}, down = () => false, gone = () => false, fires = {} }) => {
    const isScraped = (time: number) => !down(time) && !gone(time);
    const scrapes = Object.entries({ ...HEALTHY, ...values }).map(([name, value]) =>
      seriesOf(name, (time) => (isScraped(time) ? value(time) : undefined)),
    );
    const up = seriesOf('up', (time) => (gone(time) ? undefined : Number(!down(time))));
    const about = (seconds: number) =>
      expect.toSatisfy((time: number) => Math.abs(time - seconds) <= INTERVAL, `is about ${seconds}`);
    const expected = Object.entries(fires).map(([alert, [from, to]]) => [alert, [about(from), about(to)]]);
    expect(evaluate([...scrapes, up])).toEqual(Object.fromEntries(expected));
  },
);

test('each alert names a defect, of metrics that a service has', async () => {
  const named = new Set(DEFECTS.flatMap(({ fires = {} }) => Object.keys(fires)));
  expect([...named].sort()).toEqual(alerts.toSorted());
  const metrics = await readMetrics();
  for (const name of Object.keys(HEALTHY)) {
    // A counter by labels has no series before the first.
    expect(metrics, name).toContain(name === FAILURES ? '# TYPE storage_call_failures_total counter\n' : `\n${name} `);
  }
});

/** The series of an instance from the first to the last scrape, as promtool reads it. */
function seriesOf(name: string, valueAt: Values) {
  const [, metric, labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(name) ?? [];
  const series = `${metric}{job="animal-store",instance="a"${labels && `,${labels}`}}`;
  let isPresent = false;
  const values = times().map((time) => {
    const value = valueAt(time);
    const text = value ?? (isPresent ? 'stale' : '_');
    isPresent = value !== undefined;
    return text;
  });
  return { series, values: values.join(' ') };
}

/** The times of the scrapes, in seconds. */
function times(): number[] {
  return Array.from({ length: END / INTERVAL + 1 }, (_, index) => index * INTERVAL);
}

/** When each alert fires, from its first to its last second, as Prometheus' tool evaluates the rules at each scrape. */
function evaluate(series: readonly object[]): Record<string, [number, number]> {
  const none = times().flatMap((time) =>
    alerts.map((alert) => ({ eval_time: `${time}s`, alertname: alert, exp_alerts: [] })),
  );
  const tests = [{ interval: `${INTERVAL}s`, input_series: series, alert_rule_test: none }];
  const rules = { rule_files: [FILE.pathname], evaluation_interval: `${INTERVAL}s`, tests };
  const { output } = promtool('test', 'rules', freshFile('alerts.json', JSON.stringify(rules)));
  expect(output).toMatch(/SUCCESS|FAILED/);
  const fired: Record<string, [number, number]> = {};
  for (const [, alert = '', time = ''] of output.matchAll(/alertname: ?(\w+), time: ?(\w+)/g)) {
    const at = secondsOf(time);
    const [first, last] = fired[alert] ?? [at, at];
    fired[alert] = [Math.min(first, at), Math.max(last, at)];
  }
  return fired;
}

/** The seconds of a duration as Prometheus writes it: `1h2m15s`. */
function secondsOf(duration: string): number {
  const [, hours = 0, minutes = 0, seconds = 0] = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(duration) ?? [];
  return Number(hours) * 3_600 + Number(minutes) * MINUTE + Number(seconds);
}

import { readFileSync } from 'node:fs';
import { DomainError } from '@animal-store/domain';
import { freshFile } from '@animal-store/test-kit/fresh-folder';
import { describe, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { failingStorage, KEY, startService } from '../../../apps/http/test/service.ts';
import { MONITORING, promtool } from './programs.ts';

const FILE = new URL('alerts.yaml', MONITORING);
const text = readFileSync(FILE, 'utf8');
const alerts: { alert: string; labels: { severity: string } }[] = parse(text).groups[0].rules;

/** Seconds between two scrapes, as scrape.yaml says. */
const INTERVAL = 15;

const METRIC = new Set(text.match(/\b(?:http|storage|internal|log|nodejs|process)_\w+/g));

/** The values of the metrics of the alerts, by series. */
type Scrape = ReadonlyMap<string, number>;

/** The instance does not respond. */
const DOWN: Scrape = new Map();

/** What Prometheus gets from an instance, in time that passes as fast as its service responds. */
function monitor() {
  const { storage, failure } = failingStorage();
  /** null: there is no instance to scrape. */
  const scrapes: (Scrape | null)[] = [];
  let service: Awaited<ReturnType<typeof startService>> | null = null;
  let startedAt = 0;

  async function scrape(adjust: Adjust): Promise<Scrape> {
    if (service === null) return DOWN;
    const { text: metrics } = await service.call('GET', '/metrics', { key: null });
    const samples = Array.from(
      metrics.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm),
      ([, name = '', labels = '', value]) => {
        const series = `${name}{job="animal-store",instance="a"${labels && `,${labels}`}}`;
        const real = name === 'process_start_time_seconds' ? startedAt : Number(value);
        return { name, series, value: adjust(series, real, scrapes.length) };
      },
    );
    return new Map(samples.filter(({ name }) => METRIC.has(name)).map(({ series, value }) => [series, value]));
  }

  /** Lists pets, and returns the statuses. */
  const read = (count: number, key: string | null = KEY) =>
    Promise.all(Array.from({ length: count }, () => service?.call('GET', '/v1/pets', { key }))).then((all) =>
      all.map((response) => response?.status),
    );

  return {
    /** With an error the calls of the storage fail. */
    failure,
    read,
    /** Starts the instance now, or this many seconds ago. */
    async start(age = 0) {
      startedAt = scrapes.length * INTERVAL - age;
      service = await startService({}, { storage });
      await service.add({ name: 'Rex', categoryId: 1 });
    },
    async stop() {
      await service?.stop();
      service = null;
    },
    /** Lets time pass. Before each scrape some pets are listed. */
    async pass(
      seconds: number,
      { requests = 0, adjust = (_, value) => value }: { requests?: number; adjust?: Adjust } = {},
    ) {
      for (let passed = 0; passed < seconds; passed += INTERVAL) {
        await read(requests);
        scrapes.push(await scrape(adjust));
      }
    },
    /** Lets time pass while Prometheus has no target. */
    forget(seconds: number) {
      for (let passed = 0; passed < seconds; passed += INTERVAL) scrapes.push(null);
    },
    /** The seconds since the first scrape. */
    now: () => (scrapes.length - 1) * INTERVAL,
    /** When each alert fires, from its first to its last second. Alerts that do not fire are missing. */
    firing: () => evaluate(scrapes),
  };
}

/** Changes the value of a series that the service has, in the scrape with this number. */
type Adjust = (series: string, value: number, step: number) => number;

/** Evaluates the rules at each scrape, with Prometheus' tool. */
function evaluate(scrapes: readonly (Scrape | null)[]): Record<string, [number, number]> {
  const names = new Set(scrapes.flatMap((scrape) => [...(scrape?.keys() ?? [])]));
  const values = (name: string) => {
    let isPresent = false;
    return scrapes.map((scrape) => {
      const value = scrape?.get(name);
      const shown = value ?? (isPresent ? 'stale' : '_');
      isPresent = value !== undefined;
      return shown;
    });
  };
  const series = [...names].map((name) => ({ series: name, values: values(name).join(' ') }));
  const up = scrapes.map((scrape) => (scrape === null ? 'stale' : Number(scrape !== DOWN))).join(' ');
  const none = scrapes.flatMap((_, index) =>
    alerts.map(({ alert }) => ({ eval_time: `${index * INTERVAL}s`, alertname: alert, exp_alerts: [] })),
  );
  const input_series = [...series, { series: 'up{job="animal-store",instance="a"}', values: up }];
  const tests = [{ interval: `${INTERVAL}s`, input_series, alert_rule_test: none }];
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
  const unit: Record<string, number> = { h: 3600, m: 60, s: 1 };
  return Array.from(duration.matchAll(/(\d+)([hms])/g)).reduce(
    (sum, [, count, name]) => sum + Number(count) * (unit[name as string] as number),
    0,
  );
}

const MINUTE = 60;
const DEFECT = new TypeError('a defect');
const OUTAGE = new DomainError('storage_unavailable', 'try again');

/** A time, give or take the distance of two scrapes. */
const about = (seconds: number) =>
  expect.toSatisfy((time: number) => Math.abs(time - seconds) <= INTERVAL, `is about ${seconds}`);

describe.skipIf(inject('missing').includes('promtool'))('the alerts on what a service exports', () => {
  test('are silent while it serves, and while nobody asks', async () => {
    const { start, pass, firing } = monitor();
    await start();
    await pass(30 * MINUTE, { requests: 2 });
    await pass(30 * MINUTE);
    expect(firing()).toEqual({});
  });

  test('are silent if Prometheus starts an hour after a service that has had defects and failing calls', async () => {
    const { start, pass, read, failure, firing } = monitor();
    await start(60 * MINUTE);
    failure.with = DEFECT;
    await read(9);
    delete failure.with;
    await pass(20 * MINUTE);
    expect(firing()).toEqual({});
  });

  const ages: [string, number][] = [
    ['20 minutes after the start', 20 * MINUTE],
    ['before the first scrape', 0],
  ];

  test.each(ages)('page at the first defect, %s, for 5 minutes', async (_, age) => {
    const { start, pass, read, failure, now, firing } = monitor();
    await start();
    await pass(age);
    failure.with = DEFECT;
    expect(await read(1)).toEqual([500]);
    delete failure.with;
    const begin = now();
    await pass(15 * MINUTE);
    expect(firing()).toEqual({ AnimalStoreUnexpectedErrors: [about(begin), about(begin + 5 * MINUTE)] });
  });

  test.each(ages)('make a ticket of a burst of failing calls of the storage, %s, for 5 minutes', async (_, age) => {
    const { start, pass, read, failure, now, firing } = monitor();
    await start();
    await pass(age);
    failure.with = OUTAGE;
    expect(await read(6)).toEqual(Array(6).fill(503));
    delete failure.with;
    const begin = now();
    await pass(15 * MINUTE);
    expect(firing()).toEqual({ AnimalStoreStorageFailing: [about(begin), about(begin + 5 * MINUTE)] });
  });

  test.each(ages)('make a ticket of dropped lines of the log, %s, for 5 minutes', async (_, age) => {
    const { start, pass, now, firing } = monitor();
    await start();
    await pass(age);
    const begin = now();
    await pass(15 * MINUTE, { adjust: changed('log_lines_dropped_total', () => 7) });
    expect(firing()).toEqual({ AnimalStoreLogLinesDropped: [about(begin), about(begin + 5 * MINUTE)] });
  });

  test.each([15, 30, 45])('page nobody because of an outage of the storage of %i s, then or later', async (seconds) => {
    const { start, pass, failure, firing } = monitor();
    await start();
    await pass(10 * MINUTE, { requests: 10 });
    failure.with = OUTAGE;
    await pass(seconds, { requests: 10 });
    delete failure.with;
    await pass(20 * MINUTE, { requests: 10 });
    expect(Object.keys(firing())).toEqual(['AnimalStoreStorageFailing']);
  });

  test('page during an outage of 5 minutes, and at most 2 minutes longer', async () => {
    const { start, pass, failure, now, firing } = monitor();
    await start();
    await pass(10 * MINUTE, { requests: 10 });
    const begin = now();
    failure.with = OUTAGE;
    await pass(5 * MINUTE, { requests: 10 });
    const end = now();
    delete failure.with;
    await pass(20 * MINUTE, { requests: 10 });
    expect(firing()).toEqual({
      AnimalStoreStorageDown: [about(begin + MINUTE), about(end)],
      // The first 503 of a process shows in the second scrape.
      AnimalStoreUnavailable: [about(begin + 3 * MINUTE + INTERVAL), about(end + 2 * MINUTE)],
      AnimalStoreStorageFailing: [about(begin), about(end + 5 * MINUTE)],
    });
  });

  test('page if more than 1 % of the requests with a key fail, however many have none', async () => {
    const { start, pass, read, failure, firing } = monitor();
    await start();
    for (let passed = 0; passed < 10 * MINUTE; passed += INTERVAL) {
      await read(60, null);
      failure.with = OUTAGE;
      await read(1);
      delete failure.with;
      await pass(INTERVAL, { requests: 50 });
    }
    expect(Object.keys(firing())).toContain('AnimalStoreUnavailable');
  });

  test('are silent during three deployments in 15 minutes that restart an instance in 45 s', async () => {
    const { start, stop, pass, firing } = monitor();
    await start();
    await pass(30 * MINUTE, { requests: 2 });
    for (let count = 0; count < 3; count += 1) {
      await stop();
      await pass(45);
      await start();
      await pass(4 * MINUTE, { requests: 2 });
    }
    await pass(20 * MINUTE, { requests: 2 });
    expect(firing()).toEqual({});
  });

  test('page if an instance restarts every 30 s, until 15 minutes later', async () => {
    const { start, stop, pass, now, firing } = monitor();
    await start();
    await pass(10 * MINUTE);
    const begin = now();
    for (let count = 0; count < 20; count += 1) {
      await stop();
      await start();
      await pass(30);
    }
    const end = now();
    await pass(20 * MINUTE);
    expect(firing()).toEqual({
      // Four of these restarts are enough, and the last three are not.
      AnimalStoreRestarting: [about(begin + 3 * 30), about(end + 15 * MINUTE - 4 * 30)],
    });
  });

  test('page a minute after an instance has gone, until it is back', async () => {
    const { start, stop, pass, now, firing } = monitor();
    await start();
    await pass(10 * MINUTE);
    const begin = now();
    await stop();
    await pass(5 * MINUTE);
    const end = now();
    await start();
    await pass(10 * MINUTE);
    expect(firing()).toEqual({ AnimalStoreDown: [about(begin + MINUTE), about(end)] });
  });

  test('page a minute after the last target has gone', async () => {
    const { start, pass, forget, now, firing } = monitor();
    await start();
    await pass(10 * MINUTE);
    const begin = now();
    forget(10 * MINUTE);
    expect(firing()).toEqual({ AnimalStoreDown: [about(begin + MINUTE), now()] });
  });

  test.each([
    ['reads', 'http_request_duration_seconds_bucket', 'method="GET",route="/v1/pets",status="200"'],
    ['creations', 'storage_call_duration_seconds_bucket', 'operation="pets.add",outcome="ok"'],
  ])('make a ticket of slow %s after 10 minutes, for 5 minutes', async (_, name, labels) => {
    const { start, pass, now, firing } = monitor();
    const slow = (seconds: number) =>
      pass(seconds, {
        adjust: changed(name, (series, step) => (series.includes(labels) ? slowBucket(series, step) : null)),
      });
    await start();
    await pass(10 * MINUTE, { requests: 1 });
    await slow(4 * MINUTE);
    await pass(20 * MINUTE);
    expect(firing()).toEqual({});
    const begin = now();
    await slow(15 * MINUTE);
    expect(firing()).toEqual({ AnimalStoreSlow: [about(begin + 10 * MINUTE), now()] });
  });

  test('are silent if clients take seconds to send a body', async () => {
    const { start, pass, firing } = monitor();
    await start();
    const adjust = changed('http_request_duration_seconds_bucket', (series, step) =>
      series.includes('method="POST"') ? slowBucket(series, step) : null,
    );
    await pass(30 * MINUTE, { adjust });
    expect(firing()).toEqual({});
  });

  test('make a ticket of a delayed event loop after 5 minutes', async () => {
    const { start, pass, now, firing } = monitor();
    await start();
    await pass(10 * MINUTE);
    const begin = now();
    await pass(10 * MINUTE, { adjust: changed('nodejs_eventloop_lag_p99_seconds', () => 0.06) });
    expect(firing()).toEqual({ AnimalStoreEventLoopDelayed: [about(begin + 5 * MINUTE), now()] });
  });
});

/** Other values for the series of a metric; null leaves one as it is. */
const changed =
  (name: string, value: (series: string, step: number) => number | null): Adjust =>
  (series, was, step) =>
    (series.startsWith(`${name}{`) ? value(series, step) : null) ?? was;

/** The count of a bucket if each step adds 100 durations between half a second and a second. */
const slowBucket = (series: string, step: number) =>
  Number(/le="([^"]*)"/.exec(series)?.[1]?.replace('+Inf', 'Infinity')) > 0.5 ? 1_000 + step * 100 : 0;

import { LEVELS, type LogLevel } from '@animal-store/observability';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Exchange } from '../http/exchange.ts';
import { createRequestLog } from './request-log.ts';

const EXCHANGE: Exchange = {
  id: 'one',
  method: 'GET',
  route: '/v1/pets',
  traceId: null,
  startedAt: 0,
  client: '203.0.113.7',
  key: { id: '0123456789abcdef', holder: 'the "zoo\\' },
  rejectedKey: null,
  unavailable: null,
  headers: {},
};

/** A request log at this level, and what it writes. */
function requestLog({ level = 'info', readable = false }: { level?: LogLevel; readable?: boolean } = {}) {
  const lines: string[] = [];
  const summaries: unknown[][] = [];
  const warnings: unknown[][] = [];
  const observe = createRequestLog({
    addLine: (line) => void lines.push(line),
    info: (message, details) => void summaries.push([message, details]),
    isLevelEnabled: (other) => LEVELS[other] >= LEVELS[level],
    readable,
    warnThrottled: (...warning) => void warnings.push(warning),
  });
  const log = (exchange: Partial<Exchange> = {}, status = 200) =>
    observe({ ...EXCHANGE, ...exchange }, { status }, 2, 1.2345678);
  return { lines, summaries, warnings, log };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('createRequestLog', () => {
  test('writes plain text for a person', () => {
    const { lines, log } = requestLog({ readable: true });
    log();
    log({ key: null, rejectedKey: 'anst_1234' }, 401);
    log({ key: null, unavailable: { reason: 'stopping', error: null } }, 503);
    expect(lines).toEqual([
      'GET /v1/pets 200 1.235 ms 2 bytes the "zoo\\ one\n',
      'GET /v1/pets 401 1.235 ms 2 bytes anst_1234 one\n',
      'GET /v1/pets 503 (stopping) 1.235 ms 2 bytes - one\n',
    ]);
  });

  test('writes an object with the members that a request has', () => {
    const { lines, log } = requestLog();
    log();
    log({ client: null, key: null, rejectedKey: 'anst_1234', traceId: 'a1' }, 401);
    log({ key: { id: 'other', holder: 'Max' }, unavailable: { reason: 'stopping', error: null } }, 503);
    const common = { level: 30, time: expect.any(Number), msg: 'request', method: 'GET', route: '/v1/pets' };
    const always = { ...common, duration: 1.235, bytes: 2, requestId: 'one' };
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { ...always, status: 200, client: '203.0.113.7', keyId: '0123456789abcdef', holder: 'the "zoo\\' },
      { ...always, status: 401, key: 'anst_1234', traceId: 'a1' },
      { ...always, status: 503, client: '203.0.113.7', reason: 'stopping', keyId: 'other', holder: 'Max' },
    ]);
    for (const line of lines) expect(line).toMatch(/\}\n$/);
  });

  test('writes successful probes at level debug only', () => {
    const [info, debug] = [requestLog(), requestLog({ level: 'debug' })];
    for (const { log } of [info, debug]) {
      for (const route of ['/livez', '/readyz', '/healthz', '/metrics']) log({ route });
      log({ route: '/readyz' }, 400);
      log({ route: '/readyz' }, 503);
    }
    const levels = ({ lines }: typeof info) => lines.map((line) => JSON.parse(line).level);
    expect([levels(info), levels(debug)]).toEqual([
      [30, 30],
      [20, 20, 20, 20, 30, 30],
    ]);
  });

  test.each([
    ['warn', 0],
    ['info', 4],
  ] as const)('warns of status 503 at level %s, and writes %i lines of requests', (level, count) => {
    const { lines, warnings, log } = requestLog({ level });
    log();
    log({ unavailable: { reason: 'storage', error: new Error('connect ECONNREFUSED') } }, 503);
    log({ unavailable: { reason: 'overload', error: new Error('overload') } }, 503);
    log({ unavailable: { reason: 'stopping', error: new Error('stopping') } }, 503);
    expect(lines).toHaveLength(count);
    expect(warnings).toEqual([
      ['requests are rejected with 503: the storage failed', { reason: 'connect ECONNREFUSED' }],
      ['requests are rejected with 503: the service is overloaded', {}],
    ]);
  });

  test('writes the first request of a kind without a valid key at once, and the number of the others after a minute', () => {
    vi.useFakeTimers();
    const { lines, summaries, log } = requestLog();
    const invalid = { key: null, rejectedKey: 'anst_1234' };
    const kinds: [Partial<Exchange>, number][] = [
      [invalid, 401],
      [{ ...invalid, client: '203.0.113.8' }, 401],
      [{ key: null, route: 'unmatched' }, 404],
    ];
    for (let count = 0; count < 1_000; count += 1) for (const [exchange, status] of kinds) log(exchange, status);
    log({ key: null }, 401);
    log();
    log();
    expect(lines.map((line) => JSON.parse(line).status)).toEqual([401, 401, 404, 401, 200, 200]);

    vi.advanceTimersByTime(60_000);
    const common = { method: 'GET', route: '/v1/pets', client: '203.0.113.7', times: 999 };
    expect(summaries).toEqual(
      [
        { ...common, status: 401, key: 'anst_1234' },
        { ...common, status: 401, key: 'anst_1234', client: '203.0.113.8' },
        { ...common, status: 404, route: 'unmatched' },
      ].map((fields) => ['further requests without a valid key', fields]),
    );
    log(invalid, 401);
    expect(lines).toHaveLength(7);
    vi.advanceTimersByTime(60_000);
    expect(summaries).toHaveLength(3);
  });

  test('logs the number of further requests without a valid key once in a minute', () => {
    vi.useFakeTimers();
    const { summaries, log } = requestLog();
    const logTwice = (client: string) => {
      for (let count = 0; count < 2; count += 1) log({ key: null, client }, 401);
    };
    logTwice('203.0.113.7');
    vi.advanceTimersByTime(30_000);
    logTwice('203.0.113.8');
    vi.advanceTimersByTime(30_000);
    expect(summaries).toHaveLength(2);
    logTwice('203.0.113.9');
    vi.advanceTimersByTime(59_999);
    expect(summaries).toHaveLength(2);
    vi.advanceTimersByTime(1);
    expect(summaries).toHaveLength(3);
  });

  test('summarizes requests without a valid key whose client changes its address and key all the time', () => {
    vi.useFakeTimers();
    const { lines, summaries, log } = requestLog();
    for (let count = 0; count < 10_000; count += 1) {
      log({ key: null, client: `2001:db8::${count.toString(16)}`, rejectedKey: `anst_${count}` }, 401);
    }
    vi.advanceTimersByTime(60_000);
    expect(lines).toHaveLength(100);
    expect(summaries).toEqual([['further requests without a valid key', { times: 9_900 }]]);
  });

  test('writes every request without a valid key at level debug', () => {
    const { lines, log } = requestLog({ level: 'debug' });
    for (let count = 0; count < 3; count += 1) log({ key: null }, 401);
    expect(lines).toHaveLength(3);
  });
});

import { LEVELS, type LogLevel } from '@animal-store/observability';
import { describe, expect, test } from 'vitest';
import type { Exchange } from '../http/exchange.ts';
import { createRequestLog } from './request-log.ts';

const EXCHANGE: Exchange = {
  id: 'one',
  method: 'GET',
  route: '/v1/pets',
  traceId: null,
  startedAt: 0,
  client: '203.0.113.7',
  holder: 'the "zoo\\',
  rejectedKey: null,
  unavailable: null,
  headers: {},
};

/** A request log at this level, and what it writes. */
function requestLog({ level = 'info', readable = false }: { level?: LogLevel; readable?: boolean } = {}) {
  const lines: string[] = [];
  const warnings: unknown[][] = [];
  const { end } = createRequestLog({
    addLine: (line) => void lines.push(line),
    isLevelEnabled: (other) => LEVELS[other] >= LEVELS[level],
    readable,
    warnThrottled: (...warning) => void warnings.push(warning),
  });
  const log = (exchange: Partial<Exchange> = {}, status = 200) => end({ ...EXCHANGE, ...exchange }, { status }, 2, 1.5);
  return { lines, warnings, log };
}

describe('createRequestLog', () => {
  test('writes one JSON object a line, with the holder escaped', () => {
    const { lines, log } = requestLog();
    log();
    expect(lines).toEqual([expect.stringMatching(/^.*\n$/)]);
    expect(JSON.parse(lines[0] as string)).toEqual({
      level: 30,
      time: expect.any(Number),
      msg: 'request',
      method: 'GET',
      route: '/v1/pets',
      status: 200,
      duration: 1.5,
      bytes: 2,
      requestId: 'one',
      client: '203.0.113.7',
      holder: 'the "zoo\\',
    });
  });

  test('writes plain text for a person', () => {
    const { lines, log } = requestLog({ readable: true });
    log();
    expect(lines).toEqual(['GET /v1/pets 200 1.5 ms 2 bytes the "zoo\\ one\n']);
  });

  test('writes successful probes at level debug only', () => {
    const [info, debug] = [requestLog(), requestLog({ level: 'debug' })];
    for (const { log } of [info, debug]) {
      log({ route: '/readyz' });
      log({ route: '/readyz' }, 503);
    }
    const levels = ({ lines }: typeof info) => lines.map((line) => JSON.parse(line).level);
    expect([levels(info), levels(debug)]).toEqual([[30], [20, 30]]);
  });

  test('writes no requests below its level, and warns of those with status 503 all the same', () => {
    const { lines, warnings, log } = requestLog({ level: 'warn' });
    log();
    log({ unavailable: { reason: 'storage', error: new Error('connect ECONNREFUSED') } }, 503);
    log({ unavailable: { reason: 'overload', error: new Error('overload') } }, 503);
    log({ unavailable: { reason: 'stopping', error: new Error('stopping') } }, 503);
    expect(lines).toEqual([]);
    expect(warnings).toEqual([
      ['requests are rejected with 503: the storage failed', { reason: 'connect ECONNREFUSED' }],
      ['requests are rejected with 503: the service is overloaded', {}],
    ]);
  });
});

import { DomainError } from '@animal-store/domain';
import { type DestinationStream, destination, pino } from 'pino';
import type { Exchange, Observer, OnUnexpectedError, UnavailableReason } from '../http/exchange.ts';
import { createLineBuffer } from './line-buffer.ts';

/** Names of levels, the chattiest first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** What the service tells those who run it. */
export interface Log {
  /** Something happened that an operator wants to know. */
  info(message: string, details?: object): void;
  /** Something is not as it should be, and may well pass by itself. */
  warn(message: string, details?: object): void;
  /** Something is wrong that someone must put right. */
  error(message: string, details?: object): void;
  /** The same, for what may happen with every request: said at once, and then once a minute, with how often it happened. */
  warnThrottled(message: string, details?: object): void;
  /** An error that is the service's own fault. */
  readonly unexpectedError: OnUnexpectedError;
  /** Writes a line for each request; for a probe that was answered well only at level debug. */
  readonly observer: Observer;
  /** Writes what is still in memory, as far as a reader takes it at once, and nothing after it. */
  close(): Promise<void>;
}

/** Request lines are written together: up to so many UTF-16 code units, that wait up to so many milliseconds. */
const COLLECTED = { most: 16_000, interval: 200 };

/** How much may wait for a reader that is too slow, in bytes; what comes beyond that is dropped, not the service. */
const MOST_WAITING = 8 * 1024 * 1024;

/** How long the last lines may wait for a reader, in milliseconds: one that does not read must not keep the process. */
const LAST_WAIT = 1_000;

/** How often the same warning is repeated at most, in milliseconds. */
const REPEAT = 60_000;

/** What is told of requests that are answered with 503; of those at the stop nobody needs to know more. */
const UNAVAILABLE: Readonly<Record<UnavailableReason, string | null>> = {
  storage: 'requests are answered with 503: the storage failed',
  overload: 'requests are answered with 503: there is too much to do',
  stopping: null,
};

/** pino's numbers for levels. */
const DEBUG = 20;
const INFO = 30;

/** Called every few seconds by machines, whether anything happens or not. */
const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz', '/healthz', '/metrics']);

/**
 * Logs JSON, one object a line; lines to read where someone is looking.
 *
 * @param level The least severe level that is written.
 * @param readable Whether a person reads along.
 */
export function createLog(level: (typeof LOG_LEVELS)[number], { readable }: { readable: boolean }): Log {
  let waitsUntil = Number.POSITIVE_INFINITY;
  const output = readable
    ? destination({ dest: 1, sync: true })
    : destination({
        dest: 1,
        sync: false,
        maxLength: MOST_WAITING,
        retryEAGAIN: () => performance.now() < waitsUntil,
      });
  // What pino calls when the process ends tries for ever where nobody reads any more (sonic-boom 4). What is lost without it,
  // should the process crash, are the lines of the last moment.
  output.flushSync = () => {};
  let closed = false;
  /** Requests that are cut at the end have their line when nobody writes any more. */
  const write = (text: string) => {
    if (!closed) output.write(text);
  };
  const lines = createLineBuffer(write, COLLECTED);
  const logger = pino({ level, base: null }, {
    /** Lines that come one by one, behind those that are waiting. */
    write(line) {
      lines.flush();
      write(readable ? readableLine(line) : line);
    },
  } satisfies DestinationStream);
  const warned = new Map<string, { at: number; times: number }>();
  function warnThrottled(message: string, details: object = {}): void {
    const { at, times } = warned.get(message) ?? { at: Number.NEGATIVE_INFINITY, times: 0 };
    const now = performance.now();
    const isDue = now - at >= REPEAT;
    if (isDue) logger.warn({ ...details, times: times + 1 }, message);
    warned.set(message, isDue ? { at: now, times: 0 } : { at, times: times + 1 });
  }
  const warnUnavailable = ({ unavailable }: Exchange) => {
    if (unavailable === null) return;
    const { reason, error } = unavailable;
    const message = UNAVAILABLE[reason];
    if (message !== null) warnThrottled(message, reason === 'storage' ? { reason: reasonOf(error) } : {});
  };
  const debugging = logger.isLevelEnabled('debug');
  const observer: Observer = {
    end(exchange, { status }, bytes, duration) {
      warnUnavailable(exchange);
      const { id, method, route, traceId, holder, unavailable } = exchange;
      const routine = status < 400 && PROBES.has(route);
      if (routine && !debugging) return;
      const milliseconds = Math.round(duration * 1000) / 1000;
      if (readable) {
        const why = unavailable === null ? '' : ` (${unavailable.reason})`;
        write(`${method} ${route} ${status}${why} ${milliseconds} ms ${bytes} bytes ${holder ?? '-'} ${id}\n`);
        return;
      }
      // Every value is made here or matches a pattern without a character that JSON would escape, but for the method
      // (a token, RFC 9110) and the holder's name: so a line costs half of what a serializer takes.
      lines.add(
        `{"level":${routine ? DEBUG : INFO},"time":${Date.now()},"msg":"request","method":"${method}","route":"${route}","status":${status},` +
          `"duration":${milliseconds},"bytes":${bytes},"requestId":"${id}"` +
          `${unavailable === null ? '' : `,"reason":"${unavailable.reason}"`}${traceId === null ? '' : `,"traceId":"${traceId}"`}${holder === null ? '' : `,"holder":${JSON.stringify(holder)}`}}\n`,
      );
    },
  };
  return {
    info: (message, details = {}) => logger.info(details, message),
    warn: (message, details = {}) => logger.warn(details, message),
    error: (message, details = {}) => logger.error(details, message),
    warnThrottled,
    unexpectedError: (error, requestId) => logger.error({ err: error, requestId }, 'unexpected error'),
    observer: logger.isLevelEnabled('info') ? observer : { end: warnUnavailable },
    close: () =>
      new Promise((resolve) => {
        lines.flush();
        closed = true;
        waitsUntil = performance.now() + LAST_WAIT;
        output.once('close', resolve);
        // Nobody reads any more, or not in time. When the process ends pino tries once more, and fails once more.
        output.on('error', () => resolve());
        output.end();
      }),
  };
}

/** Turns pino's line into one to read: time, message, the rest. */
function readableLine(line: string): string {
  const {
    level: _,
    time,
    msg,
    err,
    ...rest
  } = JSON.parse(line) as Record<string, unknown> & { err?: { stack: string } };
  const details = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : '';
  const stack = err === undefined ? '' : `\n${err.stack}`;
  return `${new Date(time as number).toISOString()} ${msg}${details}${stack}\n`;
}

/** What the adapter knows; the error's own message is for those who called the service. */
export function reasonOf(error: unknown): string {
  const { cause } = error as Error;
  return error instanceof DomainError && cause instanceof Error ? cause.message : (error as Error).message;
}

import { inspect } from 'node:util';
import { createLineWriter, createThrottle, reasonOf } from '@animal-store/observability';
import type { Exchange, Observer, OnUnexpectedError, UnavailableReason } from '../http/exchange.ts';

/** Severities by the numbers that pino gives them, which log viewers know. */
const LEVELS = {
  trace: 10,
  debug: 20,
  info: 30,
  warn: 40,
  error: 50,
  fatal: 60,
  silent: Number.POSITIVE_INFINITY,
} as const;

export type LogLevel = keyof typeof LEVELS;

/** Names of levels, the most verbose first. */
export const LOG_LEVELS = Object.keys(LEVELS) as LogLevel[];

/** The log of the service. No call blocks or throws. */
export interface Log {
  /** An event that an operator wants to know. */
  info(message: string, details?: object): void;
  /** A problem that may pass by itself. */
  warn(message: string, details?: object): void;
  /** A problem that someone must solve. */
  error(message: string, details?: object): void;
  /** A warning that may occur with every request: logged at once, and then once a minute with the number of occurrences. */
  warnThrottled(message: string, details?: object): void;
  readonly unexpectedError: OnUnexpectedError;
  /** Writes text as it is, at any level. */
  print(text: string): void;
  /** Writes a line for each request; for a successful probe only at level debug. */
  readonly observer: Observer;
  /** How many lines could not be written since the start. */
  linesLost(): number;
  /** Writes the remaining lines, as far as the reader takes them within a second. Later ones are dropped. */
  close(): Promise<void>;
}

/** How often a warning is repeated at most, in milliseconds. */
export const REPEAT = 60_000;

/** The warning for requests with status 503; none is needed at the stop. */
const UNAVAILABLE: Readonly<Record<UnavailableReason, string | null>> = {
  storage: 'requests are rejected with 503: the storage failed',
  overload: 'requests are rejected with 503: the service is overloaded',
  stopping: null,
};

/** Called every few seconds by machines. */
const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz', '/healthz', '/metrics']);

/**
 * Creates a log of JSON objects, one a line, or of lines for a person to read.
 *
 * @param level The least severe level that is written.
 * @param fd Where it is written, see {@link createLineWriter}.
 * @param readable Whether a person reads along.
 */
export function createLog(level: LogLevel, { fd, readable }: { fd: number; readable: boolean }): Log {
  const format = readable ? readableEvent : jsonEvent;
  const writer = createLineWriter(fd, (lines, reason) => format('warn', 'log lines were lost', { lines, reason }));

  function event(severity: LogLevel, message: string, details: object = {}): void {
    if (LEVELS[severity] < LEVELS[level]) return;
    writer.add(format(severity, message, details));
    writer.flush();
  }

  const throttles = new Map<string, () => number>();
  function warnThrottled(message: string, details: object = {}): void {
    const throttle = throttles.get(message) ?? createThrottle(REPEAT);
    throttles.set(message, throttle);
    const times = throttle();
    if (times > 0) event('warn', message, { ...details, times });
  }
  const warnUnavailable = ({ unavailable }: Exchange) => {
    if (unavailable === null) return;
    const { reason, error } = unavailable;
    const message = UNAVAILABLE[reason];
    if (message !== null) warnThrottled(message, reason === 'storage' ? { reason: reasonOf(error) } : {});
  };
  const logsProbes = LEVELS[level] <= LEVELS.debug;
  const observer: Observer = {
    end(exchange, { status }, bytes, duration) {
      warnUnavailable(exchange);
      const { id, method, route, traceId, client, holder, rejectedKey, unavailable } = exchange;
      const routine = status < 400 && PROBES.has(route);
      if (routine && !logsProbes) return;
      const milliseconds = Math.round(duration * 1000) / 1000;
      if (readable) {
        const why = unavailable === null ? '' : ` (${unavailable.reason})`;
        writer.add(
          `${method} ${route} ${status}${why} ${milliseconds} ms ${bytes} bytes ${holder ?? rejectedKey ?? '-'} ${id}\n`,
        );
        return;
      }
      // By hand, at half the cost of JSON.stringify. Every value is a number, made by the service or matches a pattern without
      // characters that JSON escapes; the method is a token (RFC 9110); only a holder's name can be anything.
      writer.add(
        `{"level":${routine ? LEVELS.debug : LEVELS.info},"time":${Date.now()},"msg":"request","method":"${method}","route":"${route}","status":${status},` +
          `"duration":${milliseconds},"bytes":${bytes},"requestId":"${id}"` +
          `${client === null ? '' : `,"client":"${client}"`}${rejectedKey === null ? '' : `,"key":"${rejectedKey}"`}` +
          `${unavailable === null ? '' : `,"reason":"${unavailable.reason}"`}${traceId === null ? '' : `,"traceId":"${traceId}"`}${holder === null ? '' : `,"holder":${JSON.stringify(holder)}`}}\n`,
      );
    },
  };
  return {
    info: (message, details) => event('info', message, details),
    warn: (message, details) => event('warn', message, details),
    error: (message, details) => event('error', message, details),
    warnThrottled,
    unexpectedError: (error, requestId) => event('error', 'unexpected error', { err: errorFields(error), requestId }),
    print(text) {
      writer.add(text);
      writer.flush();
    },
    observer: LEVELS[level] <= LEVELS.info ? observer : { end: warnUnavailable },
    linesLost: writer.lost,
    close: writer.close,
  };
}

function jsonEvent(severity: LogLevel, message: string, details: object): string {
  return `${JSON.stringify({ level: LEVELS[severity], time: Date.now(), ...details, msg: message })}\n`;
}

function readableEvent(_severity: LogLevel, message: string, details: object): string {
  const { err, ...others }: { err?: { stack: string } } = details;
  const rest = JSON.stringify(others);
  return `${new Date().toISOString()} ${message}${rest === '{}' ? '' : ` ${rest}`}\n${err === undefined ? '' : `${err.stack}\n`}`;
}

/** Other properties of an error are left out: they may hold secrets. */
function errorFields(error: unknown): { type: string; message: string; stack: string } {
  if (!(error instanceof Error)) {
    const text = inspect(error, { depth: 0 });
    return { type: typeof error, message: text, stack: text };
  }
  return { type: error.name, message: error.message, stack: stackWithCauses(error) };
}

function stackWithCauses(error: Error, depth = 5): string {
  const { stack = String(error), cause } = error;
  return cause instanceof Error && depth > 0 ? `${stack}\ncaused by: ${stackWithCauses(cause, depth - 1)}` : stack;
}

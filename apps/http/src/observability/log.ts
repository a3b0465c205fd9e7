import { DomainError } from '@animal-store/domain';
import { reasonOf } from '@animal-store/domain/transport';
import pino, { type Logger } from 'pino';
import { errorCode, isUnexpected, OVERLOADED } from '../app/errors.ts';
import type { Observe } from '../app/record.ts';
import type { Output } from './output.ts';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The time between two warnings with the same message, in milliseconds. */
const THROTTLE = 60_000;

/** The log of a service. */
export interface Log extends Pick<Logger, 'debug' | 'info' | 'warn' | 'error'> {
  /** A log whose lines have these fields, too. */
  child(fields: object): Pick<Logger, 'debug' | 'info'>;
  /** A warning that may occur very often: at most one a minute for each message. */
  warnThrottled(message: string, details?: object): void;
}

/** @param output Gets each line, a JSON object. */
export function createLog(level: LogLevel, output: Pick<Output, 'write'>): Log {
  const logger = pino({ level, base: null }, output);
  const warnedAt = new Map<string, number>();
  return {
    child: logger.child.bind(logger),
    debug: logger.debug.bind(logger),
    info: logger.info.bind(logger),
    warn: logger.warn.bind(logger),
    error: logger.error.bind(logger),
    warnThrottled(message, details = {}) {
      const now = performance.now();
      if (now - (warnedAt.get(message) ?? Number.NEGATIVE_INFINITY) < THROTTLE) return;
      warnedAt.set(message, now);
      logger.warn(details, message);
    },
  };
}

/** Logs an unexpected error. Never throws: the log may be what fails, and the response is sent nevertheless. */
export function reportDefect(log: Pick<Log, 'error'>, err: unknown, requestId?: string): void {
  try {
    log.error({ err, requestId }, 'unexpected error');
  } catch {
    // Nothing is left to tell.
  }
}

/** Called every few seconds by machines. */
const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz', '/healthz', '/metrics']);

/**
 * Writes a line for each request, that of a successful probe at level debug. Warns of overload and of a storage that fails, and
 * reports unexpected errors with their stack.
 */
export function createRequestLog(log: Pick<Log, 'child' | 'error' | 'warnThrottled'>): Observe {
  function report(error: unknown, requestId: string): void {
    if (isUnexpected(error)) log.error({ err: error, requestId }, 'unexpected error');
    if (error === OVERLOADED) log.warnThrottled('requests are rejected with 503: the service is overloaded');
    if (DomainError.is(error) && error.code === 'storage_unavailable') {
      log.warnThrottled('requests are rejected with 503: the storage failed', { reason: reasonOf(error) });
    }
  }
  // pino writes the fields of a child as text once. Methods, statuses and routes are few.
  const children = new Map<string, Pick<Log, 'debug' | 'info'>>();
  return ({ id, method, route, status, traceId, duration, client, key, error, details, bytes }) => {
    if (error !== undefined) report(error, id);
    const kind = `${method} ${status} ${route}`;
    let child = children.get(kind);
    if (child === undefined) {
      child = log.child({ method, route, status });
      children.set(kind, child);
    }
    const code = error === undefined ? undefined : errorCode(error);
    const line = {
      duration: Math.round(duration * 1000) / 1000,
      bytes,
      requestId: id,
      client: client ?? undefined,
      traceId: traceId ?? undefined,
      keyId: key?.id,
      holder: key?.holder,
      error: code,
      reason: code === 'service_unavailable' ? reasonOf(error) : undefined,
      ...details,
    };
    if (status < 400 && PROBES.has(route)) child.debug(line, 'request');
    else child.info(line, 'request');
  };
}

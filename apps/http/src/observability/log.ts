import { DomainError } from '@animal-store/domain';
import { reasonOf } from '@animal-store/domain/transport';
import pino, { type Logger } from 'pino';
import sonicBoom from 'sonic-boom';
import { errorCode, isUnexpected, OVERLOADED } from '../app/errors.ts';
import type { Observe } from '../app/record.ts';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** How long a line may wait for others, in milliseconds, and how many bytes are written together or kept. */
const BUFFER = { periodicFlush: 200, minLength: 32 * 1024, maxWrite: 64 * 1024, maxLength: 8 * 1024 * 1024 };

/** How long the last lines may take to be written, in milliseconds. */
const CLOSE_TIMEOUT = 1_000;

/** The time between two warnings with the same message, in milliseconds. */
const THROTTLE = 60_000;

/** The log of a service. A reader that is slow or gone, or a full disk, neither delays nor ends the service: lines are dropped. */
export interface Log extends Pick<Logger, 'debug' | 'info' | 'warn' | 'error'> {
  /** A log whose lines have these fields, too. */
  child(fields: object): Pick<Logger, 'debug' | 'info'>;
  /** A warning that may occur very often: at most one a minute for each message. */
  warnThrottled(message: string, details?: object): void;
  /** Adds text as it is, at any level. */
  print(text: string): void;
  /** Begins to write the lines that wait for others. */
  flush(): void;
  /** How many lines were dropped since the start. */
  dropped(): number;
  /**
   * Writes the remaining lines.
   *
   * @returns Whether that ended, well or not, within a second. Otherwise a write still waits for the reader.
   */
  close(): Promise<boolean>;
}

/**
 * Writes to standard output.
 *
 * @param isTerminal Whether a person reads the lines. Otherwise each is a JSON object.
 */
export async function createLog(level: LogLevel, isTerminal: boolean): Promise<Log> {
  let dropped = 0;
  let isClosed = false;
  // What pino.destination returns flushes at the exit, and so waits for a reader that does not read.
  const output = new sonicBoom.SonicBoom({ fd: 1, sync: false, contentMode: 'buffer', ...BUFFER });
  output.on('drop', () => {
    dropped += 1;
  });
  // Without a listener an error would end the process. A full disk may have space again; a closed pipe gets no other reader.
  output.on('error', ({ code }: NodeJS.ErrnoException) => {
    isClosed ||= code === 'EPIPE';
  });
  const write = (text: string): void => {
    if (isClosed) dropped += 1;
    // As a string, sonic-boom would measure all waiting lines again for each line. Its types know strings only.
    else output.write(Buffer.from(text) as unknown as string);
  };
  // A stream of pino-pretty waits for a terminal that does not read.
  const pretty = isTerminal ? (await import('pino-pretty')).prettyFactory({ ignore: 'pid,hostname' }) : null;
  const logger = pino({ level, base: null }, { write: pretty === null ? write : (line) => write(pretty(line)) });
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
    print: write,
    flush: () => output.flush(),
    dropped: () => dropped,
    close() {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      isClosed = true;
      // Not flush, whose callback comes after a write that has begun already.
      for (const event of ['close', 'error']) output.once(event, () => resolve(true));
      output.end();
      setTimeout(resolve, CLOSE_TIMEOUT, false).unref();
      return promise;
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
  return ({ id, method, route, status, traceId, startedAt, client, key, error, details, bytes }) => {
    if (error !== null) report(error, id);
    const kind = `${method} ${status} ${route}`;
    let child = children.get(kind);
    if (child === undefined) {
      child = log.child({ method, route, status });
      children.set(kind, child);
    }
    const code = error === null ? undefined : errorCode(error);
    const line = {
      duration: Math.round((performance.now() - startedAt) * 1000) / 1000,
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

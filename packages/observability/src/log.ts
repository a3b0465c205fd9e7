import { createThrottle } from '@animal-store/async';
import { errorFields, jsonEvent, LEVELS, type LogLevel, readableEvent } from './event-format.ts';
import { createLineWriter } from './line-writer.ts';
import type { Output } from './open-standard-output.ts';

/** The log of a service. No call blocks or throws. */
export interface Log {
  /** An event for the operator. */
  info(message: string, details?: object): void;
  /** A problem that may end by itself. */
  warn(message: string, details?: object): void;
  /** A problem that someone must solve. */
  error(message: string, details?: object): void;
  /** A warning that may occur very often: logged at once, and then once a minute with the number of occurrences. */
  warnThrottled(message: string, details?: object): void;
  /** A defect of the service, with its stack. */
  unexpectedError(error: unknown, details?: object): void;
  /** Writes text as it is, at any level. */
  print(text: string): void;
  /**
   * Writes a line that the caller has formatted, at any level, up to 200 ms later.
   *
   * @param line Ends with a line feed.
   */
  addLine(line: string): void;
  /** Whether events of this level are written. */
  isLevelEnabled(level: LogLevel): boolean;
  /** Whether lines are for a person to read. Otherwise each is a JSON object. */
  readonly readable: boolean;
  /** How many lines could not be written since the start. */
  linesLost(): number;
  /** Writes the remaining lines, as far as the reader takes them within a second. Later ones are dropped. */
  close(): Promise<void>;
}

/**
 * Creates a log of JSON objects, one a line, or of lines for a person to read.
 *
 * @param level The least severe level that is written.
 * @param readable Whether a person reads the lines.
 */
export function createLog(level: LogLevel, { output, readable }: { output: Output; readable: boolean }): Log {
  const format = readable ? readableEvent : jsonEvent;
  const writer = createLineWriter(output, (lines, reason) => format('warn', 'log lines were lost', { lines, reason }));
  const isLevelEnabled = (severity: LogLevel) => LEVELS[severity] >= LEVELS[level];

  function print(text: string): void {
    writer.add(text);
    writer.flush();
  }

  function event(severity: LogLevel, message: string, details: object = {}): void {
    if (isLevelEnabled(severity)) print(format(severity, message, details));
  }

  const throttles = new Map<string, () => number>();
  return {
    info: (message, details) => event('info', message, details),
    warn: (message, details) => event('warn', message, details),
    error: (message, details) => event('error', message, details),
    warnThrottled(message, details) {
      const throttle = throttles.get(message) ?? createThrottle();
      throttles.set(message, throttle);
      const times = throttle();
      if (times > 0) event('warn', message, { ...details, times });
    },
    unexpectedError: (error, details) => event('error', 'unexpected error', { err: errorFields(error), ...details }),
    print,
    addLine: writer.add,
    isLevelEnabled,
    readable,
    linesLost: writer.lost,
    close: writer.close,
  };
}

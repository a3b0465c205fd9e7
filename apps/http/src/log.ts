import { pino } from 'pino';

/** What the service tells those who run it: one JSON object a line, on standard output. */
export interface Log {
  /** Something happened that an operator wants to know. */
  info(message: string, details?: object): void;
  /** An error that is the service's own fault. */
  fault(error: unknown): void;
}

/** @param level The least severe level that is written. */
export function createLog(level: string): Log {
  const logger = pino({ level, base: null });
  return {
    info: (message, details = {}) => logger.info(details, message),
    fault: (error) => logger.error({ err: error }, 'a request failed'),
  };
}

/** Severities by the numbers that pino gives them, which log viewers know. */
export const LEVELS = {
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

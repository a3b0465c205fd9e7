import { LEVELS, type LogLevel } from './levels.ts';

/** Formats an event as text that ends with a line feed. */
export type EventFormat = (level: LogLevel, message: string, details: object) => string;

/** One JSON object. */
export const jsonEvent: EventFormat = (level, message, details) =>
  `${JSON.stringify({ level: LEVELS[level], time: Date.now(), ...details, msg: message })}\n`;

/** A line for a person, followed by the stack of an error. */
export const readableEvent: EventFormat = (_level, message, details) => {
  const { err, ...others }: { err?: { stack: string } } = details;
  const rest = JSON.stringify(others);
  return `${new Date().toISOString()} ${message}${rest === '{}' ? '' : ` ${rest}`}\n${err === undefined ? '' : `${err.stack}\n`}`;
};

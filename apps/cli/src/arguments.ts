import { PET_STATUSES } from '@animal-store/domain';
import { Option } from 'commander';

/** The integer that a text is in decimal digits. Other text stays as it is: the use case rejects and quotes it. */
export function asBigInt(text: string | undefined): bigint | string | undefined {
  return text !== undefined && /^-?\d+$/.test(text) ? BigInt(text) : text;
}

/** Like {@link asBigInt}, for small numbers. */
export function asNumber(text: string | undefined): number | string | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : text;
}

/** `--status`, whose values the help names. The use case checks it, together with everything else. */
export function statusOption(): Option {
  return new Option('--status <status>', 'availability').choices(PET_STATUSES).argParser((text) => text);
}

/** `--json`, for commands whose output is a table on a terminal. */
export function jsonOption(): Option {
  return new Option('--json', 'print JSON lines on a terminal, too');
}

/** The part of a command's help that shows how it is used. */
export function example(...commands: string[]): string {
  return `\nExample:\n${commands.map((command) => `  $ ${command}\n`).join('')}`;
}

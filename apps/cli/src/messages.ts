import { variableNames } from '@animal-store/app-kit';
import type { ApiKey } from '@animal-store/domain';

/** Control characters, and marks that change the direction of the text after them. */
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** A text from a file on one line, with the characters escaped that control a terminal. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A message of Commander or of the domain without the arguments that it quotes: one may be a secret in the wrong place. */
export function withoutArguments(message: string): string {
  return message
    .replace(/^error: |\n$/g, '')
    .replace(/^(unknown command|unknown option) '.*'/s, '$1')
    .replace(/(argument|value) '.*' is invalid/s, '$1 is invalid')
    .replace(/( but got \d+): .*/s, '$1.')
    .replaceAll(/, was "(?:[^"\\]|\\.)*"…?/g, '');
}

/** A time of the ports in ISO 8601. */
export const isoDate = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** A line for an audit. */
const keyEvent = (date: number | null, event: string, { id, holder }: ApiKey) =>
  `${isoDate(date ?? 0)} ${event} API key ${id} of ${JSON.stringify(holder)}`;

/** The columns of a bar. */
const BAR = 20;

/** The messages to the user. Those about the members of a pet or of an API key are the domain's. */
export const MESSAGES = {
  line: (message: string) => `animal-store: ${message}\n`,
  usageHint: 'Add --help for usage.',
  environment: (choices: string) =>
    `\n${choices} selects the storage. Results are tables on a terminal, else JSON lines.`,
  integer: 'It must be an integer without a leading zero.',
  days: (max: number) => `It must be a number of days from 1 to ${max}.`,
  importId: 'It must be 1 to 100 visible ASCII characters.',
  system: (syscall: string, reason: string) => `a file can't be used (${syscall}): ${reason}`,
  inMemory: `set ${variableNames()}: nothing in memory outlives a command`,
  unreadableFile: (subject: string, reason: string) => `${subject}: the file can't be read: ${reason}`,
  emptyFile: (subject: string) => `${subject}: the file is empty`,
  unavailable: (location: string, reason: string) => `the storage at ${location} is unavailable: ${reason}`,

  noBackup: (description: string, tools = 'those of its server') =>
    `backups of ${description} are made and restored by other tools: ${tools}`,
  terminalOutput: 'the copy would be written to the terminal: name a file, as in animal-store backup >copy.new',
  terminalInput: 'the copy would be read from the terminal: name a file, as in animal-store restore <copy',
  ownInput: 'the copy would be read from the storage itself: make one with animal-store backup',
  copying: 'makes and checks the copy',
  unreadable: (reason: string) => `the standard input cannot be read: ${reason}`,
  skippedIds: 'It must be a number of ids from 0 to 999999999999.',
  stopped: 'interrupted',

  megabytes: (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`,
  pets: (count: number) => `${Math.round(count)} pets`,
  step: (name: string) => `${name}: `,
  amount: (done: number, rate: number, format: (amount: number) => string) => `${format(done)}, ${format(rate)}/s`,
  bar(done: number, rate: number, total: number, format: (amount: number) => string): string {
    const filled = '#'.repeat(Math.floor((BAR * done) / total)).padEnd(BAR);
    const left = rate > 0 ? `, ${Math.ceil((total - done) / rate)} s left` : '';
    return `[${filled}] ${format(done)} of ${format(total)}, ${format(rate)}/s${left}`;
  },

  notUtf8: 'not UTF-8',
  tooLong: (bytes: number) => `longer than ${bytes} bytes`,
  otherPet: 'another pet was imported from this line under the same --import-id',
  rejected: 'the lines above were not imported: correct them and repeat the command',
  interrupted: 'interrupted: repeat the command to continue',

  noTarget: (examples: string) =>
    `--to or --to-file must name a storage by a URL, or a path that begins with /, ./ or ../, like ${examples}; or --to-storage its adapter`,
  noAdapter: '--to-storage must be the module of an adapter: it was not found, or keeps pets in memory',
  sameStorage: 'the pets are there already: --to must name another storage',
  noArchive: (location: string) => `the pets at ${location} can't be copied: its adapter has no archive`,
  petOfTarget: (id: bigint) => `the target has pets of its own, ${id} for example: name an empty storage`,
  keyOfTarget: ({ id }: ApiKey) => `the target has an API key of its own, ${id}: name an empty storage`,
  changed: 'a storage has changed during the copy: stop every service that uses them, and repeat the command',

  keyIssued: (key: ApiKey) => keyEvent(key.createdAt, 'issued', key),
  keyRevoked: (key: ApiKey) => keyEvent(key.revokedAt, 'revoked', key),
};

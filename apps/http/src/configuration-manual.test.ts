import { readFileSync } from 'node:fs';
import { STORAGES } from '@animal-store/app-kit';
import { expect, test } from 'vitest';
import { IN_FLIGHT_MAX } from './app/exchange.ts';
import { BODY_MAX_BYTES } from './app/messages.ts';
import { VARIABLES } from './configuration.ts';
import { WAITING_MAX } from './server/connection.ts';
import { MAX_HEADER_SIZE } from './server/rejection.ts';
import { CHUNKS_MAX, DISCARD_MAX_BYTES, DISCARD_TIMEOUT } from './server/request.ts';
import { FIRST_BYTES_TIMEOUT, INACTIVITY_TIMEOUT, TIME_LIMITS } from './server/server.ts';

const ofStorages = Object.values(STORAGES).flatMap((adapter) => ('variable' in adapter ? adapter.variable : []));
const secrets = ['API_KEYS', ...ofStorages.filter(({ secret }) => secret).map(({ name }) => name)];

/** Variables without a default: they depend on the storage, or are secrets. */
const OTHERS = [
  ...['STORAGE', 'API_KEYS', ...ofStorages.map(({ name }) => name)],
  ...secrets.map((name) => `${name}_FILE`),
].sort();

const manual = readFileSync(new URL('../../../docs/settings.md', import.meta.url), 'utf8');

test('docs/settings.md has every variable with its default and its rule', () => {
  const lines = manual.replaceAll('\n  ', ' ').matchAll(/^- `([A-Z_]+)`(?: \((.+?)\))?: (.+?)\. /gm);
  const entries = [...lines].map(([, name = '', fallback = '', rule]) => [name, fallback, rule] as const);
  const expected = Object.entries(VARIABLES).map(([name, { fallback, rule }]) => [name, fallback, rule]);
  expect(entries.filter(([name]) => !OTHERS.includes(name))).toEqual(expected);
  const others = entries.map(([name]) => name).filter((name) => OTHERS.includes(name));
  expect(
    others.sort(),
    'docs/settings.md has a line for each variable of a storage, and for each twin of a secret',
  ).toEqual(OTHERS);
});

test('docs/settings.md has the fixed limits that the code has', () => {
  const seconds = (limit: keyof typeof TIME_LIMITS) => `${TIME_LIMITS[limit] / 1_000} s`;
  const kibibytes = (bytes: number) => `${bytes / 1_024} KiB`;
  const lines = manual.slice(manual.indexOf('## Fixed limits')).matchAll(/^- (.*)$/gm);
  expect([...lines].map(([, line]) => line)).toEqual([
    `header section of a request: arrives within ${seconds('headersTimeout')}, at most ${kibibytes(MAX_HEADER_SIZE)} without the separators of its fields`,
    `whole request: arrives within ${seconds('requestTimeout')}`,
    `body: at most ${kibibytes(BODY_MAX_BYTES)}`,
    `idle connection: closed after ${seconds('keepAliveTimeout')}`,
    `connection without activity during a request: closed after ${INACTIVITY_TIMEOUT / 1_000} s`,
    `connection that has sent nothing when the service stops: closed after ${FIRST_BYTES_TIMEOUT / 1_000} s`,
    `connection with more than ${WAITING_MAX} requests that have no response: closed`,
    `body that arrives in more than ${CHUNKS_MAX.toLocaleString('en')} chunks, or packets, and is not discarded: its connection is closed`,
    `body behind a response that closes its connection: discarded, for ${DISCARD_TIMEOUT / 1_000} s or ${kibibytes(DISCARD_MAX_BYTES / 1_024).replace('KiB', 'MiB')} at most`,
    `operations while more than ${IN_FLIGHT_MAX.toLocaleString('en')} requests are in flight: 503`,
    // A test of a silent storage measures it.
    'operation that waits for the storage: 503 after less than 5 s',
  ]);
});

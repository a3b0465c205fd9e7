import { readFileSync } from 'node:fs';
import { freshFile } from '@animal-store/test-kit/fresh-folder';
import { expect } from 'vitest';
import { type Configuration, readConfiguration } from '../../../apps/http/src/configuration.ts';
import { END_TIMEOUT, GRACE } from '../../../apps/http/src/service.ts';

/** The variables of the service, as its tests compare them with the code. */
const MANUAL = readFileSync(new URL('../../../docs/settings.md', import.meta.url), 'utf8');
const VARIABLES = new Set(Array.from(MANUAL.matchAll(/^- `([A-Z_]+)`/gm), ([, name]) => name));

/** The variables that the image sets. */
export const IMAGE_ENVIRONMENT = { NODE_ENV: 'production', HOST: '::' };

/**
 * Reads a configuration for production as the service reads it. The running test fails if the service would not start, or
 * does not know a variable.
 *
 * @param secrets The content of the files that variables name, by their paths.
 */
export function configurationOf(
  given: Readonly<Record<string, string>>,
  secrets: Readonly<Record<string, string>>,
): Configuration {
  // PostgreSQL's driver reads the variables of libpq.
  expect(Object.keys(given).filter((name) => !VARIABLES.has(name) && !name.startsWith('PG'))).toEqual([]);
  const configuration = readConfiguration(withSecrets(given, secrets));
  expect(configuration.production).toBe(true);
  return configuration;
}

/** The variables with the paths of files that have the content, for the running test. */
export function withSecrets(
  given: Readonly<Record<string, string>>,
  secrets: Readonly<Record<string, string>>,
): Record<string, string> {
  const moved = Object.entries(given).map(([name, value]) => {
    const content = secrets[value];
    return [name, content === undefined ? value : freshFile(name, content)];
  });
  return Object.fromEntries(moved);
}

/** Expects enough memory in MiB for MAX_CONNECTIONS, and enough seconds for a graceful stop. */
export function expectEnough(
  { MAX_CONNECTIONS, STOP_DEADLINE_SECONDS }: Configuration,
  { memory = Number.POSITIVE_INFINITY, seconds }: { readonly memory?: number; readonly seconds: number },
): void {
  // The memory of a process under load, and of a connection that sends a body: docs/operations.md.
  expect(memory * 2 ** 20).toBeGreaterThanOrEqual(170_000_000 + MAX_CONNECTIONS * 80_000);
  expect(seconds).toBeGreaterThan(STOP_DEADLINE_SECONDS + (GRACE + END_TIMEOUT) / 1_000);
}

import { readFileSync } from 'node:fs';

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** The rows of the table in the README of the contract: a bug, and the test that finds it. */
export const TABLE = [...README.matchAll(/^\| (?!Bug|-)(.+?) +\| (.+?) +\|$/gm)].map(
  ([, bug, title]) => [bug as string, title as string] as const,
);

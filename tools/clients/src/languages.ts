import { spawnSync } from 'node:child_process';

/** Languages that clients are generated for, besides those of this repository. */
export const LANGUAGES = ['Python', 'Go', 'Java'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Programs that each needs. */
const PROGRAMS: Readonly<Record<Language, readonly (readonly [string, ...string[]])[]>> = {
  Python: [['python3', '-c', 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))']],
  Go: [['go', 'version']],
  Java: [
    ['javac', '--version'],
    ['mvn', '--version'],
  ],
};

/** Why the clients in a language can't be tried here; null if they can. */
export function whyMissing(language: Language): string | null {
  if (!process.env['CLIENT_TESTS']) return 'CLIENT_TESTS is not set';
  const missing = PROGRAMS[language].find(([program, ...words]) => spawnSync(program, words).status !== 0);
  return missing === undefined ? null : `"${missing.join(' ')}" fails`;
}

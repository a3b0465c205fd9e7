import { spawnSync } from 'node:child_process';

/** What the tests use beyond Node.js, with the commands that fail if it is missing. */
const COMMANDS = {
  Python: ['python3 -c "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"'],
  Go: ['go version'],
  Java: ['javac --version', 'mvn --version'],
  curl: ['curl --version'],
} as const satisfies Record<string, readonly string[]>;

export type Language = keyof typeof COMMANDS;

/** Why the tests in a language can't run, by language; without those whose tests can. */
export function missingLanguages(): ReadonlyMap<Language, string> {
  const missing = new Map<Language, string>();
  for (const [language, commands] of Object.entries(COMMANDS) as [Language, readonly string[]][]) {
    const failing = commands.find((command) => spawnSync('sh', ['-c', command]).status !== 0);
    if (failing !== undefined) missing.set(language, `this command fails: ${failing}`);
  }
  return missing;
}

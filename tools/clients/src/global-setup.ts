import { spawnSync } from 'node:child_process';
import type { TestProject } from 'vitest/node';

/** What the tests use beyond Node.js, with the commands that fail if it is missing. */
const COMMANDS = {
  Python: ['python3 -c "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"'],
  Go: ['go version'],
  Java: ['javac --version', 'mvn --version'],
  curl: ['curl --version'],
} as const satisfies Record<string, readonly string[]>;

export type Language = keyof typeof COMMANDS;

declare module 'vitest' {
  interface ProvidedContext {
    /** Languages whose tests can't run here. */
    missingLanguages: readonly Language[];
  }
}

/** Finds out which languages are installed, and says loudly which tests don't run. */
export default function setup(project: TestProject): () => void {
  const missing = missingLanguages();
  const lines = [...missing].map(([language, reason]) => `  - ${language}, because ${reason}`);
  if (missing.size > 0 && process.env['ALL_TESTS'] === 'required') {
    throw new Error(`ALL_TESTS=required, but tests can't run for\n${lines.join('\n')}`);
  }
  project.provide('missingLanguages', [...missing.keys()]);
  return () => {
    if (missing.size > 0) process.stderr.write(notRun(lines));
  };
}

function notRun(lines: readonly string[]): string {
  const rule = '='.repeat(96);
  return [
    '',
    rule,
    'NOT RUN: the tests of clients for',
    ...lines,
    '',
    'To run them, install Python 3.11, Go, Java 17 with Maven, and curl. They download packages for each language.',
    'With ALL_TESTS=required a missing language is a failure.',
    rule,
    '',
    '',
  ].join('\n');
}

/** Why the tests in a language can't run, by language; without those whose tests can. */
function missingLanguages(): ReadonlyMap<Language, string> {
  const missing = new Map<Language, string>();
  for (const [language, commands] of Object.entries(COMMANDS) as [Language, readonly string[]][]) {
    const failing = commands.find((command) => spawnSync('sh', ['-c', command]).status !== 0);
    if (failing !== undefined) missing.set(language, `this command fails: ${failing}`);
  }
  return missing;
}

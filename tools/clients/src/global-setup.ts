import { spawnSync } from 'node:child_process';
import { notRun } from '@animal-store/test-kit/not-run';
import type { TestProject } from 'vitest/node';

/** The programs that the tests use beyond Node.js, with commands that fail if one is missing. */
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

/** Finds the installed languages, and reports the tests that don't run. */
export default function setup(project: TestProject): () => void {
  const missing = missingLanguages();
  project.provide('missingLanguages', [...missing.keys()]);
  if (missing.size === 0) return () => {};
  const report = notRun({
    tests: `the tests of clients for ${[...missing.keys()].join(', ')}`,
    because: [...missing.values()].join('; '),
    remedy:
      'To run them, install Python 3.11, Go, Java 17 with Maven, and curl. They download packages for each language.',
  });
  return () => void process.stderr.write(report);
}

/** The reasons why the tests in some languages can't run, by language. */
function missingLanguages(): ReadonlyMap<Language, string> {
  const missing = new Map<Language, string>();
  for (const [language, commands] of Object.entries(COMMANDS) as [Language, readonly string[]][]) {
    const failing = commands.find((command) => spawnSync('sh', ['-c', command]).status !== 0);
    if (failing !== undefined) missing.set(language, `this command fails: ${failing}`);
  }
  return missing;
}

import type { TestProject } from 'vitest/node';
import { type Language, missingLanguages } from './languages.ts';

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

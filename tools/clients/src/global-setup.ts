import type { TestProject } from 'vitest/node';
import { LANGUAGES, type Language, whyMissing } from './languages.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Languages whose clients can't be tried here. */
    missingLanguages: readonly Language[];
  }
}

/** Finds out which languages are installed, and says loudly which are not tried. */
export default function setup(project: TestProject): () => void {
  const reasons = LANGUAGES.map((language) => [language, whyMissing(language)] as const);
  const missing = reasons.filter(([, reason]) => reason !== null);
  const lines = missing.map(([language, reason]) => `  - ${language}, because ${reason}`);
  if (missing.length > 0 && process.env['CLIENT_TESTS'] === 'required') {
    throw new Error(`CLIENT_TESTS=required, but these languages can't be tried:\n${lines.join('\n')}`);
  }
  project.provide(
    'missingLanguages',
    missing.map(([language]) => language),
  );
  return () => {
    if (missing.length > 0) process.stderr.write(notRun(lines));
  };
}

function notRun(lines: readonly string[]): string {
  const rule = '='.repeat(96);
  return [
    '',
    rule,
    'NOT RUN: tools/clients in',
    ...lines,
    '',
    'To run them, install Python 3.11, Go, Java 17 and Maven, and set CLIENT_TESTS=on. They load packages for each',
    'language. With CLIENT_TESTS=required a missing language is a failure.',
    rule,
    '',
    '',
  ].join('\n');
}

import { rmSync } from 'node:fs';
import { checkRequirements, whyFails } from '@animal-store/test-kit/not-run';
import type { TestProject } from 'vitest/node';
import { GENERATED } from './workspace.ts';

const requirement = (language: string, command: string) => ({
  tests: `the tests of clients for ${language}`,
  whyMissing: () => whyFails(command),
  remedy:
    'To run them, install Python 3.11, Go, Java 17 with Maven, and curl. They download packages for each language.',
});

/** The programs that the tests use beyond Node.js, with commands that fail if one is missing. */
const LANGUAGES = {
  Python: requirement('Python', 'python3 -c "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"'),
  Go: requirement('Go', 'go version'),
  Java: requirement('Java', 'javac --version && mvn --version'),
  curl: requirement('curl', 'curl --version'),
};

export type Language = keyof typeof LANGUAGES;

export default async (project: TestProject): Promise<() => void> => {
  const report = await checkRequirements(LANGUAGES)(project);
  return () => {
    rmSync(GENERATED, { recursive: true, force: true, maxRetries: 5 });
    report();
  };
};

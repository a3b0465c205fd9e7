import type { TestProject } from 'vitest/node';
import { removeStale, whyNoContainers } from './docker.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Why no containers can be run; null where they can. */
    noContainers: string | null;
  }
}

/** Finds out whether containers can be built and run, and says so loudly where they can't. */
export default async function setup(project: TestProject): Promise<() => void> {
  const missing = await whyNoContainers();
  if (missing === null) await removeStale();
  else if (process.env['CONTAINER_TESTS'] === 'required') {
    throw new Error(`CONTAINER_TESTS=required, but no container can be built and run: ${missing}`);
  }
  project.provide('noContainers', missing);
  return () => {
    if (missing !== null) process.stderr.write(notRun(missing));
  };
}

function notRun(reason: string): string {
  const rule = '='.repeat(96);
  return [
    '',
    rule,
    'NOT RUN: the tests of the container image, in',
    '  - tools/container-smoke',
    `because ${reason}`,
    '',
    'To run them, start Docker. With CONTAINER_TESTS=required this is a failure.',
    rule,
    '',
    '',
  ].join('\n');
}

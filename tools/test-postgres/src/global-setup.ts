import { box, removeStaleContainers, whyNoContainers } from '@animal-store/test-mongodb/containers';
import type { TestProject } from 'vitest/node';
import type {} from './index.ts';
import { IMAGE, type Server, startServer } from './server.ts';

interface Shared {
  readonly server: Promise<Server | { readonly missing: string }>;
  /** The projects that have not ended yet. */
  users: number;
  readonly projects: string[];
}

/** Vitest runs this file once for each project that names it, all in one process: here they find the one server. */
const SHARED = Symbol.for('animal-store.test-postgres');
const shared = globalThis as { [SHARED]?: Shared };

/** A `globalSetup` for every Vitest project whose tests talk to PostgreSQL. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // The containers are recognised by their label: no helper container needs to watch them.
  process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';
  shared[SHARED] ??= { server: start(), users: 0, projects: [] };
  const run = shared[SHARED];
  run.users += 1;
  run.projects.push(project.name);
  const server = await run.server;
  if ('missing' in server && process.env['MONGODB_TESTS'] === 'required') {
    throw new Error(`MONGODB_TESTS=required, but there is no PostgreSQL to test against: ${server.missing}`);
  }
  project.provide('postgres', 'missing' in server ? server : { url: server.url });
  return async () => {
    run.users -= 1;
    if (run.users > 0) return;
    delete shared[SHARED];
    if ('missing' in server) process.stderr.write(notRun(run.projects, server.missing));
    else await server.stop();
  };
}

async function start(): Promise<Server | { readonly missing: string }> {
  const missing = await whyNoContainers(IMAGE);
  if (missing !== null) return { missing };
  await removeStaleContainers();
  return startServer();
}

function notRun(projects: readonly string[], reason: string): string {
  return box([
    'NOT RUN: every suite that needs PostgreSQL, in',
    ...projects.map((project) => `  - ${project}`),
    `because no container could be started: ${reason}`,
    '',
    'To run them, start Docker (POSTGRES_IMAGE names the image).',
    'With MONGODB_TESTS=required this is a failure.',
  ]);
}

import type { TestProject } from 'vitest/node';
import { box } from './containers.ts';
import type {} from './index.ts';
import { type RunningServer, startServer } from './server.ts';

interface Shared {
  readonly server: Promise<RunningServer>;
  /** The projects that have not ended yet. */
  users: number;
  readonly projects: string[];
}

/** Vitest runs this file once for each project that names it, all in one process: here they find the one server. */
const SHARED = Symbol.for('animal-store.test-mongodb');
const shared = globalThis as { [SHARED]?: Shared };

/** A `globalSetup` for every Vitest project whose tests talk to MongoDB. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // The containers are recognised by their label: no helper container needs to watch them.
  process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';
  shared[SHARED] ??= { server: startServer(), users: 0, projects: [] };
  const run = shared[SHARED];
  run.users += 1;
  run.projects.push(project.name);
  const { provided, stop } = await run.server;
  if ('missing' in provided && process.env['MONGODB_TESTS'] === 'required') {
    throw new Error(`MONGODB_TESTS=required, but there is no MongoDB to test against: ${provided.missing}`);
  }
  project.provide('mongodb', provided);
  return async () => {
    run.users -= 1;
    if (run.users > 0) return;
    delete shared[SHARED];
    if ('missing' in provided) process.stderr.write(notRun(run.projects, provided.missing));
    else if (!provided.containers) process.stderr.write(notAgainstOwnServer(run.projects));
    else if (!provided.hostNetwork) process.stderr.write(notPartitioned(run.projects));
    await stop();
  };
}

function notRun(projects: readonly string[], reason: string): string {
  return box([
    'NOT RUN: every suite that needs MongoDB, in',
    ...projects.map((project) => `  - ${project}`),
    `because no container could be started: ${reason}`,
    '',
    'To run them, start Docker (MONGODB_IMAGE names the image), or set TEST_MONGODB_URL',
    'to a replica set and a database whose name ends in _test.',
    'With MONGODB_TESTS=required this is a failure.',
  ]);
}

function notAgainstOwnServer(projects: readonly string[]): string {
  return box([
    'NOT RUN: the suites that stop and kill servers, in',
    ...projects.map((project) => `  - ${project}`),
    'because TEST_MONGODB_URL is set: they need containers, and leave your server alone.',
  ]);
}

function notPartitioned(projects: readonly string[]): string {
  return box([
    'NOT RUN: the suites that partition a replica set, in',
    ...projects.map((project) => `  - ${project}`),
    "because containers of Docker Desktop don't share the network of this machine.",
  ]);
}

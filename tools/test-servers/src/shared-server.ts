import { notRun } from '@animal-store/test-kit/not-run';
import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';
import { whyNoContainers } from './containers.ts';

/** Why there is no server. */
export interface Missing {
  readonly missing: string;
}

export interface StartedServer<Provided> {
  /** The data for the tests of a run. It is plain, because it is passed to other processes. */
  readonly provided: Provided;
  stop(): Promise<void>;
}

export interface SharedServerOptions<Provided> {
  /** The name of the database. */
  readonly name: string;
  /** The key of the data for tests. In capitals it begins the variable that names the image. */
  readonly key: keyof ProvidedContext;
  readonly image: string;
  start(): Promise<StartedServer<Provided>>;
}

interface Run<Provided> {
  readonly server: Promise<StartedServer<Provided> | Missing>;
  /** The projects that have not ended yet. */
  users: number;
  readonly projects: string[];
}

/** A `globalSetup` for every Vitest project whose tests talk to a database: they share one server. */
export function sharedServer<Provided extends object>({ name, key, image, start }: SharedServerOptions<Provided>) {
  // Vitest runs a global setup once for each project that names it, all in one process: here they find the one server.
  const symbol = Symbol.for(`animal-store.server.${name}`);
  const shared = globalThis as { [symbol]?: Run<Provided> };
  const noServer = ({ missing }: Missing, projects: readonly string[]): string =>
    notRun({
      tests: [`every suite that needs ${name}, in`, ...projects.map((project) => `  - ${project}`)].join('\n'),
      because: `no container could be started: ${missing}`,
      remedy: `To run them, start Docker (${key.toUpperCase()}_IMAGE names the image).`,
      variable: 'MONGODB_TESTS',
    });
  async function startIfPossible() {
    const missing = await whyNoContainers(image);
    return missing === null ? start() : { missing };
  }
  return async (project: TestProject): Promise<() => Promise<void>> => {
    shared[symbol] ??= { server: startIfPossible(), users: 0, projects: [] };
    const run = shared[symbol];
    run.users += 1;
    run.projects.push(project.name);
    const server = await run.server;
    // Throws if it is required. At the end all projects are known.
    if ('missing' in server) noServer(server, run.projects);
    project.provide(key, ('missing' in server ? server : server.provided) as never);
    return async () => {
      run.users -= 1;
      if (run.users > 0) return;
      delete shared[symbol];
      if ('missing' in server) process.stderr.write(noServer(server, run.projects));
      else await server.stop();
    };
  };
}

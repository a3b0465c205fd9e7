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

/** A `globalSetup` for every Vitest project whose tests talk to a database: they share one server. */
export function sharedServer<Provided extends object>({ name, key, image, start }: SharedServerOptions<Provided>) {
  interface Run {
    readonly server: Promise<StartedServer<Provided> | Missing>;
    readonly projects: string[];
  }
  // Vitest runs a global setup once for each project that names it, all in one process: here they find the one server.
  const symbol = Symbol.for(`animal-store.server.${name}`);
  const shared = globalThis as { [symbol]?: Run };
  async function startIfPossible() {
    const missing = await whyNoContainers(image);
    return missing === null ? start() : { missing };
  }
  const noServer = ({ missing }: Missing, projects: readonly string[]): string =>
    notRun({
      tests: [`every suite that needs ${name}, in`, ...projects.map((project) => `  - ${project}`)].join('\n'),
      because: `no container could be started: ${missing}`,
      remedy: `To run them, start Docker (${key.toUpperCase()}_IMAGE names the image).`,
      variable: 'MONGODB_TESTS',
    });
  return async (project: TestProject): Promise<void> => {
    const isFirst = shared[symbol] === undefined;
    shared[symbol] ??= { server: startIfPossible(), projects: [] };
    const { server: starting, projects } = shared[symbol];
    projects.push(project.name);
    const server = await starting;
    // Throws if it is required. At the end all projects are known.
    if ('missing' in server) noServer(server, projects);
    project.provide(key, ('missing' in server ? server : server.provided) as never);
    if (!isFirst) return;
    project.vitest.onClose(async () => {
      if ('missing' in server) process.stderr.write(noServer(server, projects));
      else await server.stop();
    });
  };
}

import type { TestProject } from 'vitest/node';
import { type NotRun, notRun } from './not-run.ts';

/** Why there is no server. */
export interface Missing {
  readonly missing: string;
}

export interface StartedServer<Provided> {
  /** The data for the tests of a run. It is plain, because it is passed to other processes. */
  readonly provided: Provided;
  /** Tests that it can't serve. */
  readonly notRun?: NotRun;
  stop(): Promise<void>;
}

export interface SharedServerOptions<Provided> {
  /** The name of the database. */
  readonly name: string;
  /** The variable that names its image. */
  readonly imageVariable: string;
  start(): Promise<StartedServer<Provided> | Missing>;
  provide(project: TestProject, provided: Provided | Missing): void;
}

interface Run<Provided> {
  readonly server: Promise<StartedServer<Provided> | Missing>;
  /** The projects that have not ended yet. */
  users: number;
  readonly projects: string[];
}

/** A `globalSetup` for every Vitest project whose tests talk to a database: they share one server. */
export function sharedServer<Provided>({ name, imageVariable, start, provide }: SharedServerOptions<Provided>) {
  // Vitest runs a global setup once for each project that names it, all in one process: here they find the one server.
  const key = Symbol.for(`animal-store.server.${name}`);
  const shared = globalThis as { [key]?: Run<Provided> };
  const noServer = ({ missing }: Missing, projects: readonly string[]): string =>
    notRun({
      tests: [`every suite that needs ${name}, in`, ...projects.map((project) => `  - ${project}`)].join('\n'),
      because: `no container could be started: ${missing}`,
      remedy: `To run them, start Docker (${imageVariable} names the image).`,
      variable: 'MONGODB_TESTS',
    });
  return async (project: TestProject): Promise<() => Promise<void>> => {
    // The containers are recognised by their label: no helper container needs to watch them.
    process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';
    shared[key] ??= { server: start(), users: 0, projects: [] };
    const run = shared[key];
    run.users += 1;
    run.projects.push(project.name);
    const server = await run.server;
    const isThere = !('missing' in server);
    // Throws if it is required. At the end all projects are known.
    if (!isThere) noServer(server, run.projects);
    provide(project, isThere ? server.provided : server);
    return async () => {
      run.users -= 1;
      if (run.users > 0) return;
      delete shared[key];
      if (!isThere) process.stderr.write(noServer(server, run.projects));
      else {
        if (server.notRun) process.stderr.write(notRun(server.notRun));
        await server.stop();
      }
    };
  };
}

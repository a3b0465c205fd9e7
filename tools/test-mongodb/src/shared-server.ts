import type { TestProject } from 'vitest/node';

/** Why there is no server. */
export interface Missing {
  readonly missing: string;
}

export interface StartedServer<Provided> {
  /** What the tests of a run are given; plain data, because it crosses from one process to another. */
  readonly provided: Provided;
  /** What else does not run, if anything: for the end of the run, which also names the projects. */
  readonly notRun?: readonly [what: string, why: string];
  stop(): Promise<void>;
}

export interface SharedServerOptions<Provided> {
  /** Of the database. */
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
  return async (project: TestProject): Promise<() => Promise<void>> => {
    // The containers are recognised by their label: no helper container needs to watch them.
    process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';
    shared[key] ??= { server: start(), users: 0, projects: [] };
    const run = shared[key];
    run.users += 1;
    run.projects.push(project.name);
    const server = await run.server;
    if ('missing' in server && process.env['MONGODB_TESTS'] === 'required') {
      throw new Error(`MONGODB_TESTS=required, but there is no ${name} to test against: ${server.missing}`);
    }
    provide(project, 'missing' in server ? server : server.provided);
    return async () => {
      run.users -= 1;
      if (run.users > 0) return;
      delete shared[key];
      if ('missing' in server) {
        const remedy = `To run them, start Docker (${imageVariable} names the image).\nWith MONGODB_TESTS=required this is a failure.`;
        const because = `because no container could be started: ${server.missing}\n\n${remedy}`;
        process.stderr.write(notRun(`every suite that needs ${name}`, run.projects, because));
      } else {
        if (server.notRun) process.stderr.write(notRun(server.notRun[0], run.projects, server.notRun[1]));
        await server.stop();
      }
    };
  };
}

function notRun(what: string, projects: readonly string[], because: string): string {
  const rule = '='.repeat(96);
  const lines = [`NOT RUN: ${what}, in`, ...projects.map((project) => `  - ${project}`), because];
  return `\n${[rule, ...lines, rule].join('\n')}\n\n`;
}

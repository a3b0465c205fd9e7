import { notRun } from '@animal-store/test-kit/not-run';
import type { TestProject } from 'vitest/node';
import { hasHostNetwork, whyNoContainers } from './containers.ts';

/** What the tests of a run know of a server. It is plain, because it is passed to other processes. */
export type SharedServer =
  /** Whether containers can use the network of this machine. */
  | { readonly url: string; readonly hostNetwork: boolean }
  /** Why there is no server. */
  | { readonly missing: string };

declare module 'vitest' {
  interface ProvidedContext {
    mongodb: SharedServer;
    postgres: SharedServer;
  }
}

export interface SharedServerOptions {
  /** The name of the database. */
  readonly name: string;
  /** The key of the data for tests. In capitals it begins the variable that names the image. */
  readonly key: 'mongodb' | 'postgres';
  readonly image: string;
  start(): Promise<{ readonly url: string; stop(): Promise<void> }>;
}

/** A `globalSetup` for every Vitest project whose tests talk to a database: they share one server. */
export function sharedServer({ name, key, image, start }: SharedServerOptions) {
  async function startIfPossible(): Promise<{ server: SharedServer; stop?: () => Promise<void> }> {
    const missing = await whyNoContainers(image);
    if (missing !== null) return { server: { missing } };
    const hostNetwork = await hasHostNetwork();
    const { url, stop } = await start();
    return { server: { url, hostNetwork }, stop };
  }
  // Vitest runs a global setup once for each project that names it, all in one process: here they find the one server.
  const symbol = Symbol.for(`animal-store.server.${name}`);
  const shared = globalThis as { [symbol]?: { starting: ReturnType<typeof startIfPossible>; projects: string[] } };
  return async (project: TestProject): Promise<void> => {
    const isFirst = shared[symbol] === undefined;
    shared[symbol] ??= { starting: startIfPossible(), projects: [] };
    const { starting, projects } = shared[symbol];
    projects.push(project.name);
    const { server, stop } = await starting;
    project.provide(key, server);
    const notice = () =>
      'missing' in server
        ? notRun({
            tests: [`every suite that needs ${name}, in`, ...projects.map((each) => `  - ${each}`)].join('\n'),
            because: `no container could be started: ${server.missing}`,
            remedy: `To run them, start Docker, or set ${key.toUpperCase()}_IMAGE to an image that it has (now ${image}).`,
            variable: 'DATABASE_TESTS',
          })
        : '';
    // Throws if it is required. At the end all projects are known.
    notice();
    if (!isFirst) return;
    project.vitest.onClose(async () => {
      process.stderr.write(notice());
      await stop?.();
    });
  };
}

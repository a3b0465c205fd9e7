import { hasHostNetwork, processOf, whyNoContainers } from '@animal-store/test-kit/containers';
import type { Missing, StartedServer } from '@animal-store/test-kit/shared-server';
import { Wait } from 'testcontainers';
import { IMAGE, mongoContainer, SMALL } from './containers.ts';
import { initiate } from './initiate.ts';

/** The data for the tests of a run. */
export interface MongoForTests {
  /** Leads to the server. */
  readonly url: string;
  /** Whether containers can use the network of this machine. */
  readonly hostNetwork: boolean;
}

export interface RunningServer extends StartedServer<MongoForTests> {
  /** The id of its process on this machine; absent if it is not known. */
  readonly pid?: number;
}

const PORT = 27017;

/** A replica set of one in a container. */
export async function startServer(): Promise<RunningServer | Missing> {
  const missing = await whyNoContainers(IMAGE);
  if (missing !== null) return { missing };
  const container = await mongoContainer()
    .withCommand(['--replSet', 'rs0', ...SMALL])
    .withExposedPorts(PORT)
    .withWaitStrategy(Wait.forLogMessage(/Waiting for connections/))
    .start();
  const stop = async () => {
    await container.stop({ timeout: 0 });
  };
  try {
    const url = `mongodb://${container.getHost()}:${container.getMappedPort(PORT)}/?directConnection=true`;
    await initiate(url, [{ host: `localhost:${PORT}` }]);
    const hostNetwork = await hasHostNetwork();
    const provided = { url, hostNetwork };
    if (hostNetwork) return { provided, pid: await processOf(container.getId()), stop };
    return {
      provided,
      notRun: {
        tests: 'the suites that partition a replica set',
        because: "containers of Docker Desktop don't share the network of this machine",
        remedy: 'To run them, use an engine on Linux.',
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

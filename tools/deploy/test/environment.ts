import { type Configuration, readConfiguration } from '../../../apps/http/src/configuration.ts';

/** The variables that the image sets. */
const IMAGE_ENVIRONMENT = { NODE_ENV: 'production', HOST: '0.0.0.0' };

/**
 * Reads the configuration as the service in a container reads it.
 *
 * @param given The variables of the container, besides those of the image.
 * @returns Also the names of variables that the service does not know.
 * @throws ConfigurationError if the service would not start.
 */
export function configurationOf(given: Record<string, string>): Configuration & { readonly ignored: string[] } {
  const names = new Set(Object.keys(given));
  const environment = new Proxy<NodeJS.ProcessEnv>(
    { ...IMAGE_ENVIRONMENT, ...given },
    {
      get(target, name: string) {
        names.delete(name);
        return target[name];
      },
    },
  );
  return { ...readConfiguration(environment), ignored: [...names] };
}

/** The memory that a process needs with connections that each send a body: docs/operations.md, Capacity. In bytes. */
export function memoryFor(connections: number): number {
  return 170e6 + connections * 80e3;
}

import { type Configuration, readConfiguration } from '../../../apps/http/src/configuration.ts';

/** What the image itself sets. */
const IMAGE_ENVIRONMENT = { NODE_ENV: 'production', HOST: '0.0.0.0' };

/**
 * What the service makes of variables that its container is given.
 *
 * @returns Also the names of those that it did not look at.
 * @throws ConfigurationError where it would refuse to start.
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

/** What a process takes by itself, and each connection with a body that is on its way: docs/operations.md, Capacity. In bytes. */
export function memoryFor(connections: number): number {
  return 120e6 + connections * 80e3;
}

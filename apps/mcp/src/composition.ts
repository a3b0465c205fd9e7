// First of all imports: tsyringe throws if the Reflect metadata API is missing.
import 'reflect-metadata';
import type { PetStorage } from '@animal-store/domain/ports';
import { type AwaitableCatalogue, createAwaitableCatalogue } from '@animal-store/domain/transport';
import type { McpServer } from '@modelcontextprotocol/server';
import { type InjectionToken, instanceCachingFactory, container as root } from 'tsyringe';
import { createServer } from './server.ts';

const CATALOGUE: InjectionToken<AwaitableCatalogue> = Symbol('catalogue');
const SERVER: InjectionToken<McpServer> = Symbol('server');

/**
 * Puts the tools and the use cases on a storage, as a function that creates the server of a connection.
 *
 * @param calls Has the calls in flight.
 * @param reportError Called with the error of each call that fails.
 */
export function compose(
  storage: PetStorage,
  calls: Set<Promise<unknown>>,
  reportError: (error: unknown) => void,
): () => McpServer {
  const container = root.createChildContainer();
  container.register(CATALOGUE, { useFactory: instanceCachingFactory(() => createAwaitableCatalogue(storage.pets)) });
  container.register(SERVER, { useFactory: (from) => createServer(from.resolve(CATALOGUE), calls, reportError) });
  return () => container.resolve(SERVER);
}

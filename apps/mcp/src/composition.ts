// First of all imports: tsyringe throws if the Reflect metadata API is missing.
import 'reflect-metadata';
import type { PetStorage } from '@animal-store/domain/ports';
import { type AwaitableCatalogue, createAwaitableCatalogue } from '@animal-store/domain/transport';
import type { McpServer } from '@modelcontextprotocol/server';
import { type InjectionToken, instanceCachingFactory, container as root } from 'tsyringe';
import { createServer, type ServerDependencies } from './server.ts';

const CATALOGUE: InjectionToken<AwaitableCatalogue> = Symbol('catalogue');
const SERVER: InjectionToken<McpServer> = Symbol('server');

/** Puts the tools and the use cases on a storage, as a function that creates the server of a connection. */
export function compose(storage: PetStorage, others: Omit<ServerDependencies, 'catalogue'>): () => McpServer {
  const container = root.createChildContainer();
  container.register(CATALOGUE, { useFactory: instanceCachingFactory(() => createAwaitableCatalogue(storage.pets)) });
  container.register(SERVER, { useFactory: (from) => createServer({ catalogue: from.resolve(CATALOGUE), ...others }) });
  return () => container.resolve(SERVER);
}

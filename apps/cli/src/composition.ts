// First of all imports: tsyringe throws if the Reflect metadata API is missing.
import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { sha256 } from '@animal-store/app-kit';
import { createKeyring, type Keyring } from '@animal-store/domain';
import type { PetStorage } from '@animal-store/domain/ports';
import { type AwaitableCatalogue, createAwaitableCatalogue } from '@animal-store/domain/transport';
import { type InjectionToken, instanceCachingFactory, container as root } from 'tsyringe';
import type { UseCases } from './context.ts';

const CATALOGUE: InjectionToken<AwaitableCatalogue> = Symbol('catalogue');
const KEYRING: InjectionToken<Keyring> = Symbol('keyring');

export function compose(storage: PetStorage): UseCases {
  const container = root.createChildContainer();
  container.register(CATALOGUE, { useFactory: instanceCachingFactory(() => createAwaitableCatalogue(storage.pets)) });
  container.register(KEYRING, {
    useFactory: instanceCachingFactory(() =>
      createKeyring({ keys: storage.keys, digest: sha256, randomBytes, clock: Date.now }),
    ),
  });
  return { catalogue: container.resolve(CATALOGUE), keyring: container.resolve(KEYRING) };
}

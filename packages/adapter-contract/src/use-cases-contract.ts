import { createHash, randomBytes } from 'node:crypto';
import {
  type Catalogue,
  createCatalogue,
  createKeyring,
  LIMITS,
  PET_STATUSES,
  type Pet,
  type PetQuery,
} from '@animal-store/domain';
import type { PetStorage } from '@animal-store/domain/ports';
import { createAuthentication } from '@animal-store/domain/transport';
import { describe, expect, test } from 'vitest';
import { failureOf } from './calls.ts';
import { rex } from './samples.ts';
import { emptyStorage, type StorageUnderTest } from './storage-under-test.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const NOON = 1_800_000_000_000;
const MINUTE = 60_000;

function keysOnStorage({ keys }: PetStorage) {
  const time = { now: NOON };
  const clock = () => time.now;
  return {
    time,
    keyring: createKeyring({ keys, digest, randomBytes, clock }),
    authenticate: createAuthentication({ configuredKeys: new Map(), issuedKeys: keys, digest, clock }),
  };
}

async function everyPage(catalogue: Catalogue, query: PetQuery): Promise<Pet[]> {
  const pets: Pet[] = [];
  for (let after: bigint | null | undefined = query.after; ; ) {
    const page = await catalogue.listPets({ ...query, after });
    pets.push(...page.pets);
    if (page.next === null) return pets;
    expect(page.pets).toHaveLength(query.limit ?? 20);
    after = page.next;
  }
}

/** The use cases on a storage. The domain tests what they reject by themselves. */
export function useCasesContract<Place>(adapter: StorageUnderTest<Place>): void {
  const catalogueOnStorage = async () => createCatalogue((await emptyStorage(adapter)).pets);

  describe('the catalogue', () => {
    test('reads and lists a pet that was created', async () => {
      const catalogue = await catalogueOnStorage();
      const pet = await catalogue.createPet({ name: 'Rex', categoryId: 2n ** 63n - 1n, status: 'sold' });
      expect(pet).toStrictEqual({ id: pet.id, name: 'Rex', categoryId: 2n ** 63n - 1n, status: 'sold' });
      expect(await catalogue.getPet(pet.id)).toStrictEqual(pet);
      expect(await catalogue.listPets()).toStrictEqual({ pets: [pet], next: null });
    });

    test('lists a thousand pets page by page, all and by each status', async () => {
      const catalogue = await catalogueOnStorage();
      const all: Pet[] = [];
      for (let batch = 0; batch < 10; batch += 1) {
        const pets = Array.from({ length: 100 }, (_, index) =>
          catalogue.createPet(rex({ name: `${batch}-${index}`, status: PET_STATUSES[index % 4] })),
        );
        all.push(...(await Promise.all(pets)));
      }
      all.sort((a, b) => Number(a.id - b.id));
      expect(await everyPage(catalogue, { limit: 7 })).toStrictEqual(all);
      // The use case asks for one pet more than the largest page: a driver may cut what it returns at once.
      expect(await everyPage(catalogue, { limit: LIMITS.page.max })).toStrictEqual(all);
      for (const status of PET_STATUSES) {
        const matching = all.filter((pet) => pet.status === status);
        expect(matching).toHaveLength(250);
        expect(await everyPage(catalogue, { limit: 50, status })).toStrictEqual(matching);
      }
    });

    test('creates one pet for an idempotency key, and rejects another pet under it', async () => {
      const catalogue = await catalogueOnStorage();
      const name = { holder: 'the zoo', key: 'k-1' };
      const pet = await catalogue.createPet(rex(), name);
      expect(await catalogue.createPet(rex(), name)).toStrictEqual(pet);
      for (const other of [{ name: 'Max' }, { categoryId: 8n }, { status: 'sold' as const }]) {
        expect(await failureOf(() => catalogue.createPet(rex(other), name))).toMatchObject({
          code: 'idempotency_key_reused',
        });
      }
      expect(await catalogue.createPet(rex(), { ...name, holder: 'another zoo' })).not.toStrictEqual(pet);
      expect((await catalogue.listPets()).pets).toHaveLength(2);
    });
  });

  describe('authentication', () => {
    test('finds the holder of an issued key, and stores only its digest', async () => {
      const { keyring, authenticate } = keysOnStorage(await emptyStorage(adapter));
      const { key, record } = await keyring.issue({ holder: 'the zoo', expiresAt: null });
      const stored = await keyring.list();
      expect(stored).toStrictEqual([record]);
      expect(JSON.stringify(stored)).not.toContain(key);
      expect(await authenticate(key)).toMatchObject({ holder: 'the zoo' });
    });

    test('finds no holder for a key that was issued elsewhere', async () => {
      const { keyring } = keysOnStorage(await emptyStorage(adapter));
      const { key } = await keyring.issue({ holder: 'the zoo', expiresAt: null });
      const other = keysOnStorage(await emptyStorage(adapter));
      expect(await other.authenticate(key)).toBeNull();
    });

    test('rejects a revoked key at once, but not the other keys of its holder', async () => {
      const { keyring, authenticate } = keysOnStorage(await emptyStorage(adapter));
      const [old, fresh] = [
        await keyring.issue({ holder: 'the zoo', expiresAt: null }),
        await keyring.issue({ holder: 'the zoo', expiresAt: null }),
      ];
      expect(await authenticate(old.key)).toMatchObject({ holder: 'the zoo' });
      expect(await keyring.revoke(old.record.id)).toMatchObject({ id: old.record.id, revokedAt: NOON });
      expect(await authenticate(old.key)).toBeNull();
      expect(await authenticate(fresh.key)).toMatchObject({ holder: 'the zoo' });
      for (const id of ['0000000000000000', '', 'a\0b', '\ud800', "'", '__proto__', 'x'.repeat(10_000)]) {
        await expect(keyring.revoke(id)).rejects.toMatchObject({ code: 'key_not_found' });
      }
    });

    test('accepts a key until it expires', async () => {
      const { keyring, authenticate, time } = keysOnStorage(await emptyStorage(adapter));
      const { key } = await keyring.issue({ holder: 'the zoo', expiresAt: NOON + MINUTE });
      time.now = NOON + MINUTE - 1;
      expect(await authenticate(key)).toMatchObject({ holder: 'the zoo' });
      time.now = NOON + MINUTE;
      expect(await authenticate(key)).toBeNull();
    });

    test('records the last use to a minute', async () => {
      const { keyring, authenticate, time } = keysOnStorage(await emptyStorage(adapter));
      const { key } = await keyring.issue({ holder: 'the zoo', expiresAt: null });
      const lastUse = async () => (await keyring.list())[0]?.lastUsedAt;
      expect(await lastUse()).toBeNull();
      await authenticate(key);
      await expect.poll(lastUse, { timeout: 15_000 }).toBe(NOON);
      time.now = NOON + MINUTE - 1;
      await authenticate(key);
      time.now = NOON + MINUTE;
      // A use is not recorded while an earlier one is being recorded, which takes as long as the disk does.
      const useAgain = async () => {
        await authenticate(key);
        return lastUse();
      };
      await expect.poll(useAgain, { timeout: 15_000 }).toBe(NOON + MINUTE);
    });
  });
}

import { createSqliteStorage } from '@animal-store/adapter-sqlite';
import { type ApiKey, createCatalogue, DomainError, type NewPet } from '@animal-store/domain';
import { allKeys, type PetArchive, type Storage, type StoredPet } from '@animal-store/domain/ports';
import { freshDatabaseFile } from '@animal-store/test-kit/fresh-folder';
import { expect, onTestFinished, test } from 'vitest';
import { commandLine } from '../test/command-line.ts';

const rex: NewPet = { name: 'Rex', categoryId: -(2n ** 63n), status: 'sold' };

/** More than a batch, with gaps between the ids. */
const PETS = Array.from({ length: 1_200 }, (_, index): StoredPet => {
  const pet = { id: BigInt(3 * index + 2), ...rex, createdAt: 1_700_000_000_000 + index };
  const idempotency = { holder: 'the zoo', key: `k-${index}`, fingerprint: `["Rex","${rex.categoryId}","sold"]` };
  return index % 2 === 0 ? { ...pet, idempotency } : pet;
});

function apiKey(digit: string, times: Partial<ApiKey> = {}): ApiKey {
  const [id, digest] = [digit.repeat(16), digit.repeat(64)];
  const none = { expiresAt: null, revokedAt: null, lastUsedAt: null };
  return { id, digest, visiblePrefix: 'anst_0000', holder: 'the zoo', createdAt: 1, ...none, ...times };
}

type Archived = Storage & { readonly archive: PetArchive };

async function storageWith(pets: readonly StoredPet[]): Promise<Archived> {
  const storage = (await createSqliteStorage({ file: freshDatabaseFile() })) as Archived;
  onTestFinished(() => storage.close());
  for (let done = 0; done < pets.length; done += 500)
    await untilDone(() => storage.archive.restore(pets.slice(done, done + 500)));
  return storage;
}

/** Repeats a call while a busy machine takes longer than it may. */
const untilDone = (call: () => Promise<unknown>) =>
  expect.poll(() => call().then(() => null, String), { timeout: 30_000 }).toBe(null);

/** Two storages with these pets, and the command that copies one to the other. */
async function storages(ofSource: readonly StoredPet[], ofTarget: readonly StoredPet[] = [], isTTY = false) {
  const [source, target] = [await storageWith(ofSource), await storageWith(ofTarget)];
  /** @param restore And `keys`: instead of those of the target. */
  const copy = (restore = target.archive.restore, keys = target.keys) => {
    const given = { ...target, keys, archive: { ...target.archive, restore } };
    return commandLine({ isTTY, storage: source, target: given }).runWith('', 'copy', '--to', './target.db');
  };
  return { source, target, copy };
}

/** Everything in a storage of at most 2,000 pets. */
async function contentOf({ archive, keys }: Archived) {
  const first = await archive.read(0n, 1_000);
  const rest = await archive.read(first.at(-1)?.id ?? 0n, 1_000);
  const records: ApiKey[] = [];
  for await (const key of allKeys(keys)) records.push(key);
  return { pets: [...first, ...rest], keys: records };
}

const counts = (copied: number, alreadyCopied: number, apiKeys: number) =>
  `{"copied":${copied},"alreadyCopied":${alreadyCopied},"apiKeys":${apiKeys}}\n`;

test('copies pets and API keys as they are, and the target goes on', async () => {
  const { source, target, copy } = await storages(PETS);
  const times = { expiresAt: 9, revokedAt: 8, lastUsedAt: 7 };
  for (const key of [apiKey('b', times), apiKey('c', { expiresAt: 9e12 })]) await source.keys.add(key);
  // More than a page of keys.
  for (let count = 0; count < 150; count += 1) {
    const id = count.toString(16).padStart(16, '0');
    await source.keys.add({ ...apiKey('a'), id, digest: id.padEnd(64, 'a') });
  }
  expect(await copy()).toEqual({ out: counts(1_200, 0, 152), err: '', code: 0 });
  expect(await contentOf(target)).toStrictEqual(await contentOf(source));
  const catalogue = createCatalogue(target.pets);
  const again = await catalogue.createPet(rex, { holder: 'the zoo', key: 'k-4' });
  expect(again).toEqual({ pet: { id: 14n, ...rex }, created: false });
  expect((await catalogue.createPet(rex)).pet.id).toBeGreaterThan(PETS.at(-1)?.id ?? 0n);
});

test('gives no id again that the source has assigned or skipped', async () => {
  const { source, target, copy } = await storages([]);
  const { id } = (await source.pets.add(rex))?.pet ?? { id: 0n };
  await source.archive.skipIds(id + 1_000n);
  expect(await copy()).toMatchObject({ code: 0 });
  expect((await target.pets.add(rex))?.pet.id).toBeGreaterThan(id + 1_000n);
});

test('adds what an earlier copy lacks', async () => {
  const { source, target, copy } = await storages(PETS, [...PETS.slice(0, 500), ...PETS.slice(1_000, 1_100)]);
  await source.keys.add(apiKey('a', { createdAt: 2 }));
  await source.keys.add(apiKey('b'));
  await target.keys.add(apiKey('b'));
  await source.keys.revoke(apiKey('b').id, 10);
  await source.keys.recordUse(apiKey('b').id, 5);
  expect(await copy()).toEqual({ out: counts(600, 600, 2), err: '', code: 0 });
  expect(await contentOf(target)).toStrictEqual(await contentOf(source));
  expect((await copy()).out).toBe(counts(0, 1_200, 2));
});

test('adds 50 API keys at once, and when it is repeated those alone that the target lacks', async () => {
  const { source, target, copy } = await storages([]);
  const ids = Array.from({ length: 150 }, (_, index) => index.toString(16).padStart(16, '0'));
  const digests = ids.map((id) => id.padEnd(64, 'a'));
  for (const [index, id] of ids.entries()) {
    await source.keys.add({ ...apiKey('a', { lastUsedAt: index }), id, digest: digests[index] as string });
  }
  const added: string[] = [];
  let [inFlight, most, isBusy] = [0, 0, true];
  async function add(key: ApiKey): Promise<void> {
    if (added.push(key.id) > 50 && isBusy) throw new DomainError('storage_unavailable', 'it is busy');
    most = Math.max(most, ++inFlight);
    await target.keys.add(key);
    inFlight -= 1;
  }
  const keys = { ...target.keys, add };
  expect(await copy(undefined, keys)).toMatchObject({ code: 1 });
  expect(added.splice(0)).toEqual(ids.slice(0, 100));
  isBusy = false;
  expect(await copy(undefined, keys)).toEqual({ out: counts(0, 0, 150), err: '', code: 0 });
  expect(added).toEqual(ids.slice(50));
  expect(most).toBe(50);
  expect(await contentOf(target)).toStrictEqual(await contentOf(source));
});

/** The end of a copy that prints no result. */
const failed = (message: string, code = 1) => ({ code, out: '', err: `animal-store: ${message}\n` });

const [first] = PETS as [StoredPet];

test.each<[string, StoredPet | null]>([
  ['a pet with another name', { ...first, name: 'Max' }],
  ['a pet with another time', { ...first, createdAt: 1 }],
  ['a pet without its idempotency key', { id: first.id, ...rex, createdAt: first.createdAt }],
  ['a pet with an id in a gap', { id: 3_001n, ...rex, createdAt: 1 }],
  ['a pet with an id above all others', { id: 2n ** 40n, ...rex, createdAt: 1 }],
  ['an API key', null],
])('stores nothing in a target that has of its own %s', async (_, pet) => {
  const { source, target, copy } = await storages(PETS, pet === null ? [] : [pet]);
  const [shared, own] = [apiKey('a'), apiKey('b')];
  await source.keys.add(shared);
  await target.keys.add(pet === null ? own : shared);
  const before = await contentOf(target);
  const found = pet === null ? `an API key of its own, ${own.id}` : `pets of its own, ${pet.id} for example`;
  expect(await copy()).toEqual(failed(`the target has ${found}: name an empty storage`));
  expect(await contentOf(target)).toEqual(before);
});

const CHANGED = 'a storage has changed during the copy: stop every service that uses them, and repeat the command';

test.each<[string, (source: Archived) => unknown, ...Parameters<typeof failed>]>([
  ['a pet is created', ({ pets }) => pets.add(rex), CHANGED],
  ['an API key is issued', ({ keys }) => keys.add(apiKey('b')), CHANGED],
  ['an API key is used', ({ keys }) => keys.recordUse(apiKey('a').id, 5), CHANGED],
  ['Ctrl-C comes', () => process.emit('SIGINT', 'SIGINT'), 'interrupted: repeat the command to continue', 130],
])('fails if %s meanwhile, and succeeds when it is repeated', async (_, happen, message, code) => {
  const { source, target, copy } = await storages(PETS);
  await source.keys.add(apiKey('a'));
  let restored = 0;
  const copied = await copy(async (pets) => {
    await target.archive.restore(pets);
    restored += pets.length;
    if (restored === PETS.length) await happen(source);
  });
  expect(copied).toEqual(failed(message, code));
  expect(await copy()).toMatchObject({ code: 0 });
  expect(await contentOf(target)).toEqual(await contentOf(source));
});

test('fails if the target lacks a pet at the end', async () => {
  const { target, copy } = await storages(PETS);
  expect(await copy((pets) => target.archive.restore(pets.slice(1)))).toEqual(failed(CHANGED));
});

test.each([
  ['lacks pets, although the next ones are being read', []],
  ['has every pet', PETS],
])('fails if the target cannot write, and %s', async (_, stored) => {
  const { target, copy } = await storages(PETS, stored);
  const restore = () => Promise.reject(new DomainError('storage_unavailable', 'no standby confirms'));
  const { location } = target;
  expect(await copy(restore)).toEqual(failed(`the storage at ${location} is unavailable: no standby confirms`));
});

test('draws a line for each step on a terminal, of the pets that are read, and erases it at the end', async () => {
  const { source, copy } = await storages(PETS, [], true);
  // The counter of ids is far above the pets after a restore that skipped ids, or behind them.
  await source.archive.skipIds(10_000_000n);
  const bar = (step: string) => `${step}: [####################] 1200 pets of 1200 pets, 0 pets/s`;
  const { out, err } = await copy();
  expect(err).toBe(['', bar('checked'), ''].join('\r\u001b[K'));
  expect(out).toMatch(/copied .*1200/);
  expect((await copy()).err).toBe(['', bar('copied'), bar('checked'), ''].join('\r\u001b[K'));
});

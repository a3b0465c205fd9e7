import { createHash } from 'node:crypto';
import { inspect, isDeepStrictEqual } from 'node:util';
import { type ApiKey, type IdempotencyKey, LIMITS, type NewPet, PET_STATUSES, type Pet } from '@animal-store/domain';
import {
  ALL_PETS,
  type ApiKeyRepository,
  apiKeyId,
  type Creation,
  fingerprint,
  type Idempotency,
  type PetFilters,
  type PetRepository,
  type StoredPet,
} from '@animal-store/domain/ports';
import * as fc from 'fast-check';
import { expect } from 'vitest';

/** A pet to create, without the members that are undefined. */
export function rex(given: Partial<NewPet> = {}): NewPet {
  const members = Object.entries(given).filter(([, value]) => value !== undefined);
  return { name: 'Rex', categoryId: 7n, ...Object.fromEntries(members) };
}

/** A pet with each member. `rex()` has none of these values. */
export const FULL_PET: { readonly [Member in keyof NewPet]-?: NonNullable<NewPet[Member]> } = {
  name: 'Bello',
  categoryId: 8n,
  status: 'sold',
};

/** Filters that select {@link FULL_PET}, and not `rex()`. One that is missing here, or below, is a compile error. */
export const FULL_SELECTION: { readonly [Name in keyof PetFilters]-?: NonNullable<PetFilters[Name]> } = {
  status: FULL_PET.status,
};

/** Each combination of the values of filters. */
export const SELECTIONS: readonly PetFilters[] = [undefined, ...PET_STATUSES].map((status) => ({ status }));

/** The pets that filters select. */
export const selected = <P extends NewPet>(pets: readonly P[], { status }: PetFilters): P[] =>
  pets.filter((pet) => status === undefined || pet.status === status);

/** When a pet was created that is restored. */
export const CREATED_AT = 1_800_000_000_123;

/** So many pets a call of an archive moves, at most. */
export const MOVED = 1_000;

/** A pet to restore. */
export const petAt = (id: number): StoredPet => ({ id: BigInt(id), ...rex(), createdAt: CREATED_AT });

/** The creation of a pet under an idempotency key. */
export function idempotencyOf(newPet: NewPet, key: string | IdempotencyKey): Idempotency {
  const named = typeof key === 'string' ? { holder: 'the zoo', key } : key;
  return { ...named, fingerprint: fingerprint(newPet) };
}

/** Adds a pet, or finds the one that its idempotency key stands for. */
export async function added(pets: PetRepository, newPet: NewPet = rex(), idempotency?: Idempotency): Promise<Pet> {
  return ((await pets.add(newPet, idempotency)) as Creation).pet;
}

/** All pages of a selection, one after the other. */
export async function everyPage(
  pets: PetRepository,
  { limit = LIMITS.page.max, ...given }: Partial<PetFilters> & { readonly limit?: number } = {},
): Promise<Pet[]> {
  return pagesFrom(0n, limit, (after) => pets.list({ ...ALL_PETS, ...given, after, limit }));
}

/** All records of API keys, page by page. */
export async function everyKey(keys: ApiKeyRepository, limit: number = LIMITS.page.maxRead): Promise<ApiKey[]> {
  return pagesFrom('', limit, (after) => keys.list({ after, limit }));
}

async function pagesFrom<Item extends { readonly id: bigint | string }>(
  after: Item['id'],
  limit: number,
  read: (after: Item['id']) => Promise<readonly Item[]>,
): Promise<Item[]> {
  const page = await read(after);
  if (page.length > limit) throw new Error(`a page of ${page.length} for the limit ${limit}`);
  const last = page.at(-1)?.id;
  if (last === undefined || page.length < limit) return [...page];
  if (last <= after) throw new Error(`the page after the id ${after} ends with the id ${last}`);
  return [...page, ...(await pagesFrom(last, limit, read))];
}

export const inOrderOfIds = <Item extends { readonly id: bigint | string }>(items: readonly Item[]): Item[] =>
  items.toSorted((one, other) => (one.id < other.id ? -1 : 1));

const anyCharacter = fc.oneof(
  // Not `fc.string` of the unit `binary`, which makes a map of all code points in each process: two seconds of CPU.
  fc
    .integer({ min: 1, max: 0x10ffff })
    .map((code) => String.fromCodePoint(code))
    .filter((character) => character.isWellFormed()),
  // Characters that storages, their drivers and their encodings are known to change, to cut at, or to take for equal.
  fc.constantFrom(
    ...' \t\n\r\'"`\\$.%_?:;{}\u007f',
    // Equal after normalization, case folding or in a collation, and still different.
    'e\u0301',
    ...'é\ufb01\u00c5\u212bßẞİı\ufdfa\u200b\u200d\u202e\ufeff\ufffd\uffff',
    // Outside the BMP: four bytes of UTF-8, two units of UTF-16.
    ...'🐕𝒳\u{1f1e9}\u{10ffff}',
  ),
);

/** Any text of a length in code points, short or as long as it may be. */
const texts = (unit: fc.Arbitrary<string>, minLength: number, maxLength: number) =>
  fc
    .oneof(
      fc.string({ unit, minLength, maxLength: 12 }),
      // fast-check's own sizes are far below the domain's limits.
      fc.string({ unit, minLength: maxLength - 20, maxLength, size: 'max' }),
    )
    // A character may have two code points.
    .filter((text) => [...text].length <= maxLength);

const { maxLength: NAME_LENGTH, pattern: NAME } = LIMITS.name;

/** Any pet that can be created. */
export const newPets: fc.Arbitrary<NewPet> = fc
  .record({
    name: texts(anyCharacter, 1, NAME_LENGTH).filter((name) => NAME.test(name)),
    categoryId: fc.bigInt(LIMITS.categoryId),
    status: fc.constantFrom(...PET_STATUSES, undefined),
  } satisfies Record<keyof NewPet, fc.Arbitrary<unknown>>)
  .map(rex);

/** A pet with every member, whose fingerprint is as long as one can be. */
export const LONGEST_PET: Required<NewPet> = {
  name: '\u0001'.repeat(NAME_LENGTH),
  categoryId: LIMITS.categoryId.min,
  status: 'available',
};

/** The longest name in bytes, in every encoding: each code point takes four. */
const LONGEST_NAME = '🐕'.repeat(NAME_LENGTH);

/** Pets with values that storages are known to change. The first one that fails is shown, so the simplest is the first. */
export const notoriousPets: readonly NewPet[] = [
  rex(),
  ...PET_STATUSES.map((status) => rex({ status })),
  ...[LIMITS.categoryId.min, LIMITS.categoryId.max, 0n, -1n, 2n ** 31n, 2n ** 32n, 2n ** 53n + 1n].map((categoryId) =>
    rex({ categoryId }),
  ),
  ...[' Rex ', 'e\u0301', 'é', 'x'.repeat(NAME_LENGTH), LONGEST_NAME].map((name) => rex({ name })),
  LONGEST_PET,
];

const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
const { maxLength: KEY_LENGTH } = LIMITS.idempotencyKey;

/**
 * As many of the largest pets as a call of an archive moves, each with a key as long as can be: more than engines send at once. A
 * list that selects the last one reads all others.
 */
export const LARGEST = Array.from({ length: MOVED }, (_, index): readonly [NewPet, Idempotency] => {
  const pet = index === MOVED - 1 ? FULL_PET : { ...LONGEST_PET, name: LONGEST_NAME };
  const holder = '🐕'.repeat(LIMITS.holder.maxLength);
  return [pet, idempotencyOf(pet, { holder, key: String(index).padStart(KEY_LENGTH, 'k') })];
});

/** Any idempotency key and holder. */
export const idempotencyKeys: fc.Arbitrary<IdempotencyKey> = fc.record({
  holder: texts(anyCharacter, 0, LIMITS.holder.maxLength),
  key: texts(visible, 1, KEY_LENGTH),
});

/** Where two values differ first, and how. */
function differenceOf(found: unknown, expected: unknown, path: string): string {
  const both = [found, expected];
  const areObjects = both.every((value) => typeof value === 'object' && value !== null);
  for (const name of areObjects ? Object.keys(Object.assign({}, ...both)) : []) {
    const [one, other] = both.map((value) => Reflect.get(value as object, name));
    if (!isDeepStrictEqual(one, other)) return differenceOf(one, other, `${path}.${name}`);
  }
  // Characters that look alike differ in their codes.
  const codeOf = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const texts = both.map((value) => inspect(value, { breakLength: Infinity }).replace(/[^\n -~]/g, codeOf));
  const [one, other] = texts as [string, string];
  let begin = 0;
  while (begin < one.length && one.slice(begin, begin + 20) === other.slice(begin, begin + 20)) begin += 20;
  const part = (text: string) => (begin > 0 ? '…' : '') + text.slice(begin, begin + 60);
  return `${path} is ${part(one)} instead of ${part(other)}`;
}

/** Expects that values are equal. The message says where they differ first: Vitest's own has 40 characters of each. */
export function expectSame(found: unknown, expected: unknown, what = 'the result'): void {
  if (!isDeepStrictEqual(found, expected)) expect(found, differenceOf(found, expected, what)).toStrictEqual(expected);
}

let made = 0;

/** The record of a key that no other call returns. Of three in a row, the ids differ in the last digit alone. */
export function apiKey(given: Partial<ApiKey> = {}): ApiKey {
  const real = createHash('sha256')
    .update(`${Math.floor(made / 3)}`)
    .digest('hex');
  const digest = `${real.slice(0, 15)}${'f0e'[made % 3]}${real.slice(16)}`;
  made += 1;
  return {
    id: apiKeyId(digest),
    digest,
    visiblePrefix: 'anst_0000',
    holder: 'the zoo',
    createdAt: 1_800_000_000_000,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    ...given,
  };
}

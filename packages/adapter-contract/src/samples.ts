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

interface Filter<Value> {
  /** The first one selects {@link FULL_PET}, and not `rex()`. */
  readonly values: readonly [Value, ...Value[]];
  selects(pet: NewPet, value: Value): boolean;
}

/** A filter that is missing here is a compile error. */
const FILTERS: { readonly [Name in keyof PetFilters]: Filter<NonNullable<PetFilters[Name]>> } = {
  status: {
    values: [FULL_PET.status, ...PET_STATUSES.filter((status) => status !== FULL_PET.status)],
    selects: (pet, status) => pet.status === status,
  },
};
const filters = Object.entries(FILTERS) as [keyof PetFilters, Filter<unknown>][];

/** Each combination of the values of filters. The first one selects all pets. */
export const SELECTIONS = filters.reduce(
  (selections: readonly PetFilters[], [name, { values }]) =>
    selections.flatMap((others) =>
      [undefined, ...values].map((value): PetFilters => ({ ...others, [name]: value as never })),
    ),
  [ALL_PETS],
);

/** The pets that filters select. */
export function selected<P extends NewPet>(pets: readonly P[], given: PetFilters): P[] {
  const isSelected = (pet: P) =>
    filters.every(([name, { selects }]) => given[name] === undefined || selects(pet, given[name]));
  return pets.filter(isSelected);
}

/** The selections that have {@link FULL_PET}, and not `rex()`. */
export const FULL_SELECTIONS = SELECTIONS.filter((each) => selected([rex(), FULL_PET], each)[0] === FULL_PET);

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
  first: Item['id'],
  limit: number,
  read: (after: Item['id']) => Promise<readonly Item[]>,
): Promise<Item[]> {
  const seen: Item[] = [];
  for (let after = first; ; ) {
    const page = await read(after);
    if (page.length > limit) throw new Error(`a page of ${page.length} for the limit ${limit}`);
    seen.push(...page);
    if (page.length < limit) return seen;
    const last = (page.at(-1) as Item).id;
    if (last <= after) throw new Error(`the page after the id ${after} ends with the id ${last}`);
    after = last;
  }
}

export function inOrderOfIds<P extends Pet>(pets: readonly P[]): P[] {
  return pets.toSorted((one, other) => Number(one.id - other.id));
}

export function inOrderOfKeyIds(keys: readonly ApiKey[]): ApiKey[] {
  return keys.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

// fast-check's own sizes are far below the domain's limits.
const FULL_LENGTH = { size: 'max' } as const;

/** Characters that storages, their drivers and their encodings are known to change, to cut at, or to take for equal. */
const notorious = fc.constantFrom(
  ...' \t\n\r\'"`\\$.%_?:;{}\u007f',
  // Equal after normalization, case folding or in a collation, and still different.
  'e\u0301',
  ...'é\ufb01\u00c5\u212bßẞİı\ufdfa\u200b\u200d\u202e\ufeff\ufffd\uffff',
  // Outside the BMP: four bytes of UTF-8, two units of UTF-16.
  ...'🐕𝒳\u{1f1e9}\u{10ffff}',
);

// Not `fc.string` of the unit `binary`, which makes a map of all code points in each process: two seconds of CPU.
const anyCodePoint = fc.integer({ min: 1, max: 0x10ffff }).map((code) => String.fromCodePoint(code));

const anyCharacter = fc.oneof(
  anyCodePoint.filter((character) => character.isWellFormed()),
  notorious,
);

/** Any well-formed text of a length in code points, short or as long as it may be. */
const texts = (minLength: number, maxLength: number) =>
  fc
    .oneof(
      fc.string({ unit: anyCharacter, minLength, maxLength: Math.min(maxLength, 12) }),
      fc.string({ unit: anyCharacter, minLength: maxLength - 20, maxLength, ...FULL_LENGTH }),
    )
    // A character may have two code points.
    .filter((text) => [...text].length <= maxLength);

const { maxLength: NAME_LENGTH, pattern: NAME } = LIMITS.name;

/** Of a Date, after 1970 or before. An adapter reads it instead of a stored time that is farther, and another one stores it. */
export const FARTHEST_TIME = LIMITS.time.max;

/** The longest name in bytes, in every encoding: each code point takes four. */
export const LONGEST_NAME = '🐕'.repeat(NAME_LENGTH);

/** Any pet that can be created. */
export const newPets: fc.Arbitrary<NewPet> = fc
  .record({
    name: texts(1, NAME_LENGTH).filter((name) => NAME.test(name)),
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

/** The members that a pet may lack. */
type Optional = { [Member in keyof NewPet]-?: undefined extends NewPet[Member] ? Member : never }[keyof NewPet];

/** Pets that differ from it in one member alone, by the name of the member. */
export const ALMOST_LONGEST_PETS: Readonly<Record<keyof NewPet | `no ${Optional}`, NewPet>> = {
  name: { ...LONGEST_PET, name: `${'\u0001'.repeat(NAME_LENGTH - 1)}\u0002` },
  categoryId: { ...LONGEST_PET, categoryId: LIMITS.categoryId.min + 1n },
  status: { ...LONGEST_PET, status: 'pending' },
  'no status': rex({ ...LONGEST_PET, status: undefined }),
};

/** Values that storages are known to change. */
const NOTORIOUS: { readonly [Member in keyof NewPet]-?: readonly NewPet[Member][] } = {
  status: PET_STATUSES,
  categoryId: [LIMITS.categoryId.min, LIMITS.categoryId.max, 0n, -1n, 2n ** 31n, 2n ** 32n, 2n ** 53n + 1n],
  name: [' Rex ', 'e\u0301', 'é', 'x'.repeat(NAME_LENGTH), LONGEST_NAME],
};

/** Pets with such values. The first one that fails is shown, so the simplest is the first. */
export const notoriousPets: readonly NewPet[] = [
  rex(),
  ...Object.entries(NOTORIOUS).flatMap(([member, values]) => values.map((value) => rex({ [member]: value }))),
  LONGEST_PET,
];

const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
const { maxLength: KEY_LENGTH } = LIMITS.idempotencyKey;

/** The longest key of a number, with a holder who is as long as one can be in each encoding. */
export const longestKeyOf = (number: number): IdempotencyKey => ({
  holder: '🐕'.repeat(LIMITS.holder.maxLength),
  key: String(number).padStart(KEY_LENGTH, 'k'),
});

/** Any idempotency key and holder, some of them as long as can be. */
export const idempotencyKeys: fc.Arbitrary<IdempotencyKey> = fc.record({
  holder: texts(0, LIMITS.holder.maxLength),
  key: fc.oneof(
    fc.string({ unit: visible, minLength: 1, maxLength: 3 }),
    fc.string({ unit: visible, minLength: KEY_LENGTH - 5, maxLength: KEY_LENGTH, ...FULL_LENGTH }),
  ),
});

/** Where two values differ first, and how. */
function differenceOf(found: unknown, expected: unknown, path = ''): string {
  if (isDeepStrictEqual(found, expected)) return '';
  const areObjects = [found, expected].every((value) => typeof value === 'object' && value !== null);
  for (const name of areObjects ? Object.keys({ ...(expected as object), ...(found as object) }) : []) {
    const [one, other] = [found, expected].map((value) => Reflect.get(value as object, name));
    const difference = differenceOf(one, other, `${path}${Array.isArray(expected) ? `[${name}]` : `.${name}`}`);
    if (difference) return difference;
  }
  let begin = 0;
  const areTexts = typeof found === 'string' && typeof expected === 'string';
  while (areTexts && found[begin] === expected[begin]) begin += 1;
  // Characters that look alike differ in their codes.
  const codeOf = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const [one, other] = [found, expected].map((value) =>
    areTexts
      ? `"${(value as string).slice(Math.max(0, begin - 20), begin + 20).replace(/[^ -~]/g, codeOf)}"`
      : inspect(value, { breakLength: Infinity, maxStringLength: 40 }),
  );
  return `${path} is ${one} instead of ${other}${begin > 20 ? ` from code unit ${begin - 20} on` : ''}`;
}

/** Expects that values are equal. The message says where they differ first: Vitest's own has 40 characters of each. */
export function expectSame(found: unknown, expected: unknown, what = 'the result'): void {
  if (isDeepStrictEqual(found, expected)) return;
  const [length, others] = [found, expected].map((value) => (Array.isArray(value) ? value.length : 0));
  const lengths = length === others ? '' : `, ${length} items instead of ${others}`;
  expect(found, what + differenceOf(found, expected) + lengths).toStrictEqual(expected);
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

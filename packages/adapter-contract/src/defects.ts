// Defects: a wrong argument is an error of its own, and no call beside it fails.

import { inspect } from 'node:util';
import { DomainError, LIMITS, type NewPet } from '@animal-store/domain';
import { ALL_PETS, type Creation, type Storage } from '@animal-store/domain/ports';
import { expect } from 'vitest';
import { atOnce, callBy, failureOf, isOfArchive, type Method, patiently, TYPE_ERRORS } from './calls.ts';
import { added, apiKey, CREATED_AT, everyPage, expectSame, idempotencyOf, petAt, rex } from './samples.ts';
import { archiveTestOf, portsAt, type StorageTest, type StorageUnderTest } from './storage-under-test.ts';

/** Wrong calls of a method. Each may have a result: an adapter may have no constraints. */
interface Defects {
  readonly given: readonly (readonly unknown[])[];
  /** Expects that what a call has accepted is stored unchanged. */
  expectKept?(storage: Storage, given: readonly unknown[], result: unknown): Promise<void>;
}

/** Values that a pet can't have. A member that is missing here is a compile error. */
const WRONG_VALUES: { readonly [Member in keyof NewPet]-?: readonly unknown[] } = {
  name: [null, 'x'.repeat(LIMITS.name.maxLength + 1), '🐕'.repeat(10_000)],
  categoryId: ['x', LIMITS.categoryId.max + 1n],
  status: ['lost'],
};
const WRONG_MEMBERS = Object.entries(WRONG_VALUES).flatMap(([member, values]) =>
  values.map((value) => ({ [member]: value })),
);

/** Operators of a query language, a value without a text, and texts that some encodings lack. */
const WRONG_TEXTS = [{}, { $gte: '' }, { $x: '' }, Object.create(null), '\0', '\ud800'];
const WRONG_NUMBERS = [undefined, {}, 'x'];
/** Each is an error, also of an adapter without constraints. */
const WRONG_TIMES = [...WRONG_NUMBERS, Number.NaN, 0.5, LIMITS.time.max + 1];
const KNOWN = apiKey();
/** Changes of a key: at a wrong time, or of a wrong id. */
const CHANGES = [...WRONG_TIMES.map((at) => [KNOWN.id, at]), ...WRONG_TEXTS.map((id) => [id, CREATED_AT])];
const expectRightTime = async (_: Storage, [, at]: readonly unknown[]) =>
  expect(at, 'a wrong time was accepted').toBe(CREATED_AT);

type MethodWithArguments = Exclude<Method, 'archive.lastId'>;

/** A method that is missing here is a compile error. */
const DEFECTS = {
  'pets.add': {
    given: [
      ...WRONG_MEMBERS.map((wrong) => [{ ...rex(), ...wrong }]),
      ...['z'.repeat(LIMITS.holder.maxLength + 1), `${'z'.repeat(9_999)}a`, `${'z'.repeat(9_999)}b`].map((holder) => [
        rex(),
        idempotencyOf(rex(), { holder, key: 'k' }),
      ]),
    ],
    async expectKept({ pets }, [newPet], creation) {
      const { pet, created } = creation as Creation;
      expect(created).toBe(true);
      expectSame(await pets.find(pet.id), { id: pet.id, ...(newPet as NewPet) });
    },
  },
  'pets.find': {
    given: [undefined, 2n ** 64n, 2n ** 64n + 1n, ...WRONG_TEXTS].map((id) => [id]),
    expectKept: async (_, __, found) => expect(found).toBeNull(),
  },
  'pets.list': {
    given: [
      ...['x', {}, -1].map((limit) => [{ ...ALL_PETS, after: 0n, limit }]),
      ...[2n ** 64n, ...WRONG_TEXTS].map((after) => [{ ...ALL_PETS, after, limit: 1 }]),
      ...Object.keys(ALL_PETS).flatMap((filter) =>
        WRONG_TEXTS.map((value) => [{ ...ALL_PETS, after: 0n, limit: 1, [filter]: value }]),
      ),
    ],
  },
  'keys.add': {
    given: [
      ...['createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt'].flatMap((member) =>
        [...WRONG_TIMES, ...(member === 'createdAt' ? [null] : [])].map((time) => [{ ...apiKey(), [member]: time }]),
      ),
      [apiKey({ holder: 'z'.repeat(10_000) })],
    ],
    async expectKept({ keys }, [record]) {
      const { id, digest, holder } = record as typeof KNOWN;
      expectSame(record, apiKey({ id, digest, holder }), 'without a wrong time');
      expect(await keys.find(digest)).toMatchObject({ id, holder });
    },
  },
  'keys.find': { given: [undefined, 'x', ...WRONG_TEXTS].map((digest) => [digest]) },
  'keys.list': {
    given: [
      ...[undefined, 'x', ...WRONG_TEXTS].map((after) => [{ after, limit: 20 }]),
      ...WRONG_NUMBERS.map((limit) => [{ after: '', limit }]),
    ],
  },
  'keys.revoke': { given: CHANGES, expectKept: expectRightTime },
  'keys.recordUse': { given: CHANGES, expectKept: expectRightTime },
  'archive.read': {
    given: [
      [undefined, 1],
      [0n, 'x'],
      [0n, -1],
    ],
  },
  'archive.skipIds': { given: [[undefined], ['x'], [-1n]] },
  'archive.restore': {
    given: [
      [undefined],
      ...[...WRONG_MEMBERS, { id: 'x' }, ...WRONG_TIMES.map((createdAt) => ({ createdAt }))].map((wrong) => [
        [{ ...petAt(1), ...wrong }],
      ]),
    ],
    async expectKept(_, [pets]) {
      for (const pet of (pets ?? []) as ReturnType<typeof petAt>[])
        expect(pet, 'without a wrong time').toMatchObject({ createdAt: CREATED_AT });
    },
  },
} satisfies Record<MethodWithArguments, Defects>;

const ALL = Object.keys(DEFECTS) as MethodWithArguments[];

async function expectDefect(storage: Storage, name: MethodWithArguments, given: readonly unknown[]): Promise<void> {
  const { expectKept }: Defects = DEFECTS[name];
  // Creations with keys may share a statement that others have no part in.
  const hasKey = name === 'pets.add' && given.length > 1;
  const right = () => {
    const given = hasKey ? [rex(), idempotencyOf(rex(), apiKey().id)] : undefined;
    return patiently(() => callBy(storage, name, given));
  };
  const some = () => Array.from({ length: isOfArchive(name) ? 0 : 4 }, right);
  const [before, call, after] = [some(), patiently(() => callBy(storage, name, given)), some()];
  const ended = call.then(
    () => null,
    (error) => error,
  );
  const text = `${name} of ${inspect(given, { maxStringLength: 20 })}`;
  const [failure, ...others] = await Promise.all([
    ended,
    ...[...before, ...after].map((right) => failureOf(() => right)),
  ]);
  for (const other of others) expect(other, `a right call beside ${text}`).toBeNull();
  expect(DomainError.is(failure), `${text}: ${failure}`).toBe(false);
  if (given.length === 0) expect(failure, text).toBeInstanceOf(TypeError);
  else if (failure === null) await expectKept?.(storage, given, await call);
  await patiently(() => callBy(storage, name));
}

/** A check for each method. */
function defectsOf(test: StorageTest, methods: readonly MethodWithArguments[]): void {
  for (const name of methods) {
    const rule = isOfArchive(name) ? '' : ', and fails no call beside them';
    test(`throws no outage for wrong arguments of ${name}${rule}`, async ({ storage, keys, pets }) => {
      await Promise.all([keys.add(KNOWN), pets.add(rex())]);
      for (const given of [...TYPE_ERRORS.filter((each) => each === name).map(() => []), ...DEFECTS[name].given])
        await expectDefect(storage, name, given);
      expectSame(await keys.find(KNOWN.digest), KNOWN);
    });
  }
}

export function defectsContract(test: StorageTest): void {
  defectsOf(
    test,
    ALL.filter((name) => !isOfArchive(name)),
  );
}

/** Those of an archive. */
export function archiveDefectsContract<Place>(adapter: StorageUnderTest<Place>): void {
  const test = archiveTestOf(adapter);

  defectsOf(test, ALL.filter(isOfArchive));

  test('assigns no id after the last one, 2^53 - 1, and repeats none', async ({ place, pets, archive }) => {
    const pet = await added(pets);
    const last = { id: LIMITS.id.maxAssigned, ...rex({ name: 'Max' }) };
    await archive.restore([{ ...last, createdAt: CREATED_AT }]);
    for (const each of [pets, (await portsAt(adapter, place)).pets]) {
      for (const idempotency of [undefined, idempotencyOf(rex(), 'k1')]) {
        const add = failureOf(() => each.add(rex(), idempotency));
        const found = atOnce(10, () => each.find(pet.id));
        const failure = await add;
        for (const same of await found) expectSame(same, pet, 'found beside a defect');
        expect(failure, 'the error of a creation').toBeInstanceOf(Error);
        expect(failure, 'the error of a creation').not.toSatisfy(DomainError.is);
      }
    }
    expectSame(await everyPage(pets), [pet, last]);
    expect(await archive.lastId()).toBe(last.id);
  });
}

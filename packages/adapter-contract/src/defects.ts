// Defects: a wrong argument is an error of its own, and no call beside it fails.

import { inspect } from 'node:util';
import { type ApiKey, DomainError, LIMITS, type NewPet } from '@animal-store/domain';
import { ALL_PETS, type Creation, type Ports } from '@animal-store/domain/ports';
import { expect } from 'vitest';
import { atOnce, excuseSlow, failureOf, patiently } from './calls.ts';
import { callBy, isOfArchive, type Method } from './methods.ts';
import { added, apiKey, CREATED_AT, expectSame, idempotencyOf, MOVED, petAt, rex } from './samples.ts';
import { archiveTestOf, portsAt, type StorageTest, type StorageUnderTest, testOf } from './storage-under-test.ts';

/** Wrong calls of a method. */
interface Defects {
  /** Each is a TypeError, also of an adapter without constraints. */
  readonly wrongTimes?: readonly (readonly unknown[])[];
  /** Each may have a result: an adapter may have no constraints. */
  readonly others: readonly (readonly unknown[])[];
  /** Expects that what one of the others has stored is unchanged. */
  expectKept?(ports: Ports, given: readonly unknown[], result: unknown): Promise<void>;
}

/** Values that a pet can't have. */
const WRONG_MEMBERS = [
  ...[null, 'x'.repeat(LIMITS.name.maxLength + 1), '🐕'.repeat(10_000)].map((name) => ({ name })),
  ...['x', LIMITS.categoryId.max + 1n].map((categoryId) => ({ categoryId })),
  { status: 'lost' },
];

/** Operators of a query language, a value without a text, and texts that some encodings lack. */
const WRONG_TEXTS = [{}, { $gte: '' }, { $x: '' }, Object.create(null), '\0', '\ud800'];
const WRONG_NUMBERS = [undefined, {}, 'x'];
const WRONG_TIMES = [...WRONG_NUMBERS, Number.NaN, 0.5, LIMITS.time.max + 1];
const KNOWN = apiKey();
const CHANGES_OF_KEYS: Defects = {
  wrongTimes: WRONG_TIMES.map((at) => [KNOWN.id, at]),
  others: WRONG_TEXTS.map((id) => [id, CREATED_AT]),
};

type MethodWithArguments = Exclude<Method, 'archive.lastId'>;

/** A method that is missing here is a compile error. */
const DEFECTS = {
  'pets.add': {
    others: [
      ...WRONG_MEMBERS.map((wrong) => [{ ...rex(), ...wrong }]),
      ...['z'.repeat(LIMITS.holder.maxLength + 1), `${'z'.repeat(9_999)}a`, `${'z'.repeat(9_999)}b`].map((holder) => {
        const own = rex({ name: holder.slice(-1) });
        return [own, idempotencyOf(own, { holder, key: 'k' })];
      }),
    ],
    async expectKept({ pets }, [newPet], creation) {
      // Null if the holder is taken for that of another pet.
      expect(creation, 'the creation').not.toBeNull();
      const { pet } = creation as Creation;
      expectSame(await pets.find(pet.id), { id: pet.id, ...(newPet as NewPet) });
    },
  },
  'pets.find': {
    others: [undefined, 2n ** 64n, 2n ** 64n + 1n, ...WRONG_TEXTS].map((id) => [id]),
    expectKept: async (_, __, found) => expect(found).toBeNull(),
  },
  'pets.list': {
    others: [
      ...['x', {}, -1].map((limit) => ({ limit })),
      ...[2n ** 64n, ...WRONG_TEXTS].map((after) => ({ after })),
      ...Object.keys(ALL_PETS).flatMap((filter) => WRONG_TEXTS.map((value) => ({ [filter]: value }))),
    ].map((wrong) => [{ ...ALL_PETS, after: 0n, limit: 1, ...wrong }]),
  },
  'keys.add': {
    wrongTimes: [
      [{ ...apiKey(), createdAt: null }],
      ...['createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt'].flatMap((member) =>
        WRONG_TIMES.map((time) => [{ ...apiKey(), [member]: time }]),
      ),
    ],
    others: [[apiKey({ holder: 'z'.repeat(10_000) })]],
    async expectKept({ keys }, [record]) {
      expectSame(await keys.find((record as ApiKey).digest), record);
    },
  },
  'keys.find': { others: [undefined, 'x', ...WRONG_TEXTS].map((digest) => [digest]) },
  'keys.list': {
    others: [
      ...[undefined, 'x', ...WRONG_TEXTS].map((after) => [{ after, limit: 20 }]),
      ...WRONG_NUMBERS.map((limit) => [{ after: '', limit }]),
    ],
  },
  'keys.revoke': CHANGES_OF_KEYS,
  'keys.recordUse': CHANGES_OF_KEYS,
  'archive.read': {
    others: [[undefined, 1], ...['x', -1].map((limit) => [0n, limit])],
  },
  'archive.skipIds': { others: [[undefined], ['x'], [-1n]] },
  'archive.restore': {
    wrongTimes: WRONG_TIMES.map((createdAt) => [[{ ...petAt(1), createdAt }]]),
    others: [[undefined], ...[...WRONG_MEMBERS, { id: 'x' }].map((wrong) => [[{ ...petAt(1), ...wrong }]])],
  },
} satisfies Record<MethodWithArguments, Defects>;

/** A check for each method, of an archive or not. */
function defectsOf(test: StorageTest, ofArchive: boolean): void {
  const methods = (Object.keys(DEFECTS) as MethodWithArguments[]).filter((name) => isOfArchive(name) === ofArchive);
  test.for(methods)('throws no outage for wrong arguments of %s', async (name, { storage, keys, pets }) => {
    const isExcused = excuseSlow();
    await Promise.all([keys.add(KNOWN), pets.add(rex())]);
    const { wrongTimes = [], others, expectKept }: Defects = DEFECTS[name];
    for (const given of [...wrongTimes, ...others]) {
      const text = `${name} of ${inspect(given, { maxStringLength: 20 })}`;
      // Creations with keys may share a statement that others have no part in.
      const hasKey = name === 'pets.add' && given.length > 1;
      const right = () => callBy(storage, name, hasKey ? [rex(), idempotencyOf(rex(), apiKey().id)] : undefined);
      const count = ofArchive ? 0 : 4;
      // Repeated alone, a right call would have no wrong one beside it.
      const [end, ...beside] = await patiently(async () => {
        const [before, wrong, after] = [atOnce(count, right), callBy(storage, name, given), atOnce(count, right)];
        const ends = await Promise.allSettled([wrong, before, after]);
        for (const each of ends) if (each.status === 'rejected' && DomainError.is(each.reason)) throw each.reason;
        await callBy(storage, name);
        return ends;
      }, isExcused).catch((failure: Error) => {
        throw Object.assign(failure, { message: `${text}, with right calls beside it: ${failure.message}` });
      });
      for (const each of beside) expect(each, `right calls beside ${text}`).toMatchObject({ status: 'fulfilled' });
      const failure = end.status === 'rejected' ? end.reason : null;
      if (wrongTimes.includes(given)) expect(failure, text).toBeInstanceOf(TypeError);
      else if (end.status === 'fulfilled') await expectKept?.({ pets, keys }, given, end.value);
    }
    expectSame(await keys.find(KNOWN.digest), KNOWN);
  });
}

export const defectsContract = <Place>(adapter: StorageUnderTest<Place>) => defectsOf(testOf(adapter), false);

/** Those of an archive. */
export function archiveDefectsContract<Place>(adapter: StorageUnderTest<Place>): void {
  const test = archiveTestOf(adapter);
  defectsOf(test, true);

  test('assigns no id after the last one, 2^53 - 1, and repeats none', async ({ place, pets, archive }) => {
    const pet = await added(pets, rex(), idempotencyOf(rex(), 'k0'));
    const last = { ...petAt(0), id: LIMITS.id.maxAssigned };
    await archive.restore([last]);
    for (const each of [pets, (await portsAt(adapter, place)).pets]) {
      for (const idempotency of [undefined, idempotencyOf(rex(), 'k1')]) {
        const add = failureOf(() => each.add(rex(), idempotency), Infinity);
        const found = atOnce(10, () => each.find(pet.id));
        const failure = await add;
        for (const same of await found) expectSame(same, pet, 'found beside a defect');
        expect(failure, 'the error of a creation').toBeInstanceOf(Error);
        expect(failure, 'the error of a creation').not.toSatisfy(DomainError.is);
        expect(failure?.message).not.toContain('did not end');
      }
    }
    expectSame(
      (await archive.read(0n, MOVED)).map(({ id }) => id),
      [pet.id, last.id],
    );
    expect(await archive.lastId()).toBe(last.id);
  });
}

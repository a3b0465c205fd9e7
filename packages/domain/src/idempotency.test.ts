import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fingerprint, idempotentCreate } from './idempotency.ts';
import { parseNewPet } from './pet.ts';

const fields = fc.record({
  // Few letters and JSON's own characters, so that different animals come close to each other.
  name: fc.string({ unit: fc.constantFrom('a', '"', ',', '[', ']', '\\', '1', 'é', '🐕'), maxLength: 4 }),
  categoryId: fc.bigInt({ min: -12n, max: 12n }),
  status: fc.constantFrom('available' as const, 'sold' as const, undefined),
});

const asGiven = ({ name, categoryId, status }: { name: string; categoryId: bigint; status?: string | undefined }) =>
  [name, categoryId, status] as const;

const withoutAbsent = ({
  status,
  ...rest
}: {
  name: string;
  categoryId: bigint;
  status?: 'available' | 'sold' | undefined;
}) => (status === undefined ? rest : { ...rest, status });

test('two animals have the same fingerprint exactly when they are the same', () => {
  fc.assert(
    fc.property(fields, fields, (one, other) => {
      const same = asGiven(one).every((value, index) => value === asGiven(other)[index]);
      expect(fingerprint(withoutAbsent(one)) === fingerprint(withoutAbsent(other))).toBe(same);
      expect(fingerprint(withoutAbsent(one))).toBe(fingerprint(withoutAbsent({ ...one })));
    }),
    { numRuns: 5_000 },
  );
});

test.each(['a\ud800', '\udc00'])('a holder that not every storage can tell from others, %j, is refused', (holder) => {
  const rex = parseNewPet({ name: 'Rex', categoryId: 1n });
  expect(() => idempotentCreate({ holder, key: 'k' }, rex)).toThrow(/holder must be well-formed Unicode/);
});

test('categories that a double cannot tell apart are different', () => {
  const [even, odd] = [2n ** 53n, 2n ** 53n + 1n].map((categoryId) => fingerprint({ name: 'Rex', categoryId }));
  expect(even).not.toBe(odd);
});

test('composed and decomposed letters are different names', () => {
  const [composed, decomposed] = ['é', 'e\u0301'].map((name) => fingerprint({ name, categoryId: 1n }));
  expect(composed).not.toBe(decomposed);
});

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fingerprint, idempotencyHolderViolation } from './idempotency.ts';

const fields = fc.record({
  // Few letters and JSON's own characters make different pets similar.
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

describe('fingerprint', () => {
  test('is the same for two pets exactly if they are the same', () => {
    fc.assert(
      fc.property(fields, fields, (one, other) => {
        const same = asGiven(one).every((value, index) => value === asGiven(other)[index]);
        expect(fingerprint(withoutAbsent(one)) === fingerprint(withoutAbsent(other))).toBe(same);
        expect(fingerprint(withoutAbsent(one))).toBe(fingerprint(withoutAbsent({ ...one })));
      }),
      { numRuns: 5_000 },
    );
  });

  test('differs for categories that are the same double', () => {
    const [even, odd] = [2n ** 53n, 2n ** 53n + 1n].map((categoryId) => fingerprint({ name: 'Rex', categoryId }));
    expect(even).not.toBe(odd);
  });

  test('differs for composed and decomposed letters', () => {
    const [composed, decomposed] = ['é', 'e\u0301'].map((name) => fingerprint({ name, categoryId: 1n }));
    expect(composed).not.toBe(decomposed);
  });
});

describe('idempotencyHolderViolation', () => {
  test.each([
    ['a\ud800', 'well-formed Unicode, was "a\\ud800"'],
    ['\udc00', 'well-formed Unicode, was "\\udc00"'],
    [7, 'well-formed Unicode, was a number'],
    [undefined, 'well-formed Unicode, was missing'],
    ['🐕'.repeat(101), 'at most 100 characters (Unicode code points), was 101'],
  ])('rejects the holder %j, which some storages cannot distinguish from others or not index', (holder, rule) => {
    expect(idempotencyHolderViolation({ holder })).toBe(`the holder of an idempotency key must be ${rule}`);
  });

  test.each(['', ' orders', '🐕'.repeat(100)])('accepts the holder %j', (holder) => {
    expect(idempotencyHolderViolation({ holder })).toBeNull();
  });
});

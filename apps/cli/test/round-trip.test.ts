import { LIMITS, type NewPet, PET_STATUSES } from '@animal-store/domain';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { commandLine } from './command-line.ts';

/** Characters that spreadsheets, CSV, JSON and terminals are known to change. */
const notorious = fc.constantFrom(
  ...',;\t"\'\\\n\r \u0000\u001b\u007f\u0085\u00a0\u2028\u2029\u202e\ufeff\ufffd\uffffé🐕\u{10ffff}=+@0{}',
  ...['""', '\r\n', 'e\u0301'],
);

const names = fc
  .string({ unit: fc.oneof(notorious, fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })), maxLength: 60 })
  .filter((name) => LIMITS.name.pattern.test(name) && [...name].length <= LIMITS.name.maxLength);

const edges = fc.constantFrom(
  ...['007', '-1', '1e3', 'null', '"', '""', '","', '"\n', ' x ', '\ufeffx', 'x\r', '=1+1', '🐕'.repeat(200)],
);

const { min, max } = LIMITS.categoryId;

const newPets: fc.Arbitrary<NewPet> = fc
  .record({
    name: fc.oneof(names, edges),
    categoryId: fc.oneof(fc.bigInt(min, max), fc.constantFrom(min, max, 0n, 2n ** 53n + 1n)),
    status: fc.constantFrom(...PET_STATUSES, undefined),
  })
  .map(({ status, ...pet }) => (status === undefined ? pet : { ...pet, status }));

test.each([[['ndjson']], [['csv']], [['csv', '--bom']]])(
  'exports the same after an import of an export: %j',
  async (format) => {
    await fc.assert(
      fc.asyncProperty(fc.array(newPets, { minLength: 1, maxLength: 250 }), async (given) => {
        const [first, second] = [commandLine(), commandLine()];
        for (const pet of given) await first.catalogue.createPet(pet);
        const exported = await first.runWith('', 'pets', 'export', '--format', ...format);
        const imported = await second.runWith(exported.out, 'pets', 'import', '--format', format[0] as string);
        expect(imported).toEqual({
          out: `{"imported":${given.length},"alreadyImported":0,"rejected":0}\n`,
          err: '',
          error: null,
        });
        expect(await second.runWith('', 'pets', 'export', '--format', ...format)).toEqual(exported);
        for (const [index, pet] of given.entries()) {
          const id = BigInt(index + 1);
          expect(await second.catalogue.getPet(id)).toEqual({ id, ...pet });
        }
      }),
      { numRuns: 50 },
    );
  },
);

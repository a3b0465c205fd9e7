import { LIMITS } from '@animal-store/domain';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { commandLine } from '../../test/command-line.ts';
import { highestId } from './export-pets.ts';

test('finds the highest id with few queries for any distribution of ids', async () => {
  const ids = fc.uniqueArray(fc.oneof(fc.bigInt(1n, 5_000n), fc.bigInt(1n, LIMITS.id.maxAssigned)));
  await fc.assert(
    fc.asyncProperty(ids, async (given) => {
      const sorted = given.sort((a, b) => (a < b ? -1 : 1));
      let queries = 0;
      const found = await highestId(async (after) => {
        queries += 1;
        return sorted.find((id) => id > after);
      });
      expect(found).toBe(sorted.at(-1) ?? 0n);
      expect(queries).toBeLessThanOrEqual(53);
    }),
  );
});

test('ends an export with the pets that existed at its start, although others create pets faster than it reads', async () => {
  let others = 0;
  const { run, catalogue } = commandLine({
    onList(pets) {
      for (let count = 0; count < 150 && others < 30_000; count += 1) {
        others += 1;
        pets.add({ name: `another ${others}`, categoryId: 1n });
      }
    },
  });
  const COUNT = 1_000;
  for (let number = 1; number <= COUNT; number += 1) {
    await catalogue.createPet({ name: `Rex ${number}`, categoryId: 1n });
  }
  const exported = (await run('pets', 'export')).map((line) => JSON.parse(line) as { id: number; name: string });
  expect(exported.slice(0, COUNT).map(({ name }) => name)).toEqual(
    Array.from({ length: COUNT }, (_, index) => `Rex ${index + 1}`),
  );
  // Pets that were created while the highest id was looked for may be among them.
  expect(exported.length).toBeLessThan(COUNT + 10_000);
  expect(exported.map(({ id }) => id)).toEqual(exported.map((_, index) => index + 1));
});

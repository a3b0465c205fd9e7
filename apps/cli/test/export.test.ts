import { expect, test } from 'vitest';
import { commandLine } from './command-line.ts';

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
  // Those that were created while the highest id was looked for may be among them.
  expect(exported.length).toBeLessThan(COUNT + 10_000);
  expect(exported.map(({ id }) => id)).toEqual(exported.map((_, index) => index + 1));
});

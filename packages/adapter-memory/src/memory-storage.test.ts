import { storageContract } from '@animal-store/adapter-contract';
import { expect, test } from 'vitest';
import { createMemory, openMemory } from './memory-storage.ts';

storageContract('memory', { freshPlace: createMemory, open: openMemory, outages: 'not tested' });

test('an import of 20,000 lines gets ids in the order of its calls, and its repetition uses up none', async () => {
  const { pets } = openMemory(createMemory());
  const rex = { name: 'Rex', categoryId: 7n };
  const importAll = () =>
    Promise.all(
      Array.from({ length: 20_000 }, async (_, index) => {
        const creation = await pets.add(rex, { holder: 'the zoo', key: `line-${index}`, fingerprint: 'rex' });
        return creation?.pet.id;
      }),
    );
  const inOrder = Array.from({ length: 20_000 }, (_, index) => BigInt(index + 1));
  expect(await importAll()).toEqual(inOrder);
  expect(await importAll()).toEqual(inOrder);
  expect(await pets.add(rex)).toMatchObject({ pet: { id: 20_001n } });
});

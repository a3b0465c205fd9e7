import { expect, test } from 'vitest';
import { read } from '../src/repository.ts';
import { changes, exportedNames, readSurface, SURFACE, type Surface, unlisted } from '../src/surface.ts';

const HOW =
  'Name each in backticks below "## Next" in CHANGELOG.md, with what users must do. ' +
  'If it was never published, run: npm run release -- surface';

test('CHANGELOG.md lists each published name that is gone, and each format that has changed', async () => {
  const released: Surface = JSON.parse(read(SURFACE));
  expect(unlisted(changes(released, await readSurface()), read('CHANGELOG.md')), HOW).toEqual([]);
});

test('readSurface finds names of each kind', async () => {
  const surface = await readSurface();
  expect(surface['settings']).toHaveProperty('PORT');
  expect(surface['metrics']).toHaveProperty('animal_store_storage_up');
  expect(surface['error codes']).toMatchObject({ not_found: '', storage_unavailable: '' });
  expect(surface['exports']).toMatchObject({
    '@animal-store/domain createCatalogue': '',
    '@animal-store/domain/ports PetStorage': '',
  });
  expect(surface['stored formats']).toMatchObject({
    'MongoDB pets': expect.stringMatching(/^[\da-f]{12}$/),
    'SQLite pets': expect.stringMatching(/^[\da-f]{12}$/),
  });
});

test('exportedNames finds types, renamed names and declarations', () => {
  const text = `
export type { A, B } from './a.ts';
export { c, type D, e as f } from './c.ts';
export async function g() {}
export interface H {}
export const i = 1;
`;
  expect(exportedNames(text)).toEqual(['A', 'B', 'c', 'D', 'f', 'g', 'H', 'i']);
  expect(() => exportedNames("export * from './a.ts';")).toThrow('name what it exports');
});

test('changes are names that are gone, definitions that differ, and new error codes', () => {
  const released = {
    metrics: { up: '', down: '' },
    'error codes': { a: '' },
    'stored formats': { pets: '1', keys: '1' },
  };
  const current = {
    metrics: { up: '', new: '' },
    'error codes': { a: '', b: '' },
    'stored formats': { pets: '2', keys: '1' },
  };
  expect(changes(released, current)).toEqual(['down', 'pets', 'b']);
  expect(unlisted(['down', 'pets', 'b'], '# Upgrading\n\n## Next\n\n- `down`, `pets`\n\n## 1.0.0\n\n- `b`\n')).toEqual([
    'b',
  ]);
});

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

test('CHANGELOG.md begins with the version of the packages', () => {
  const [, version] = /^## (\S+)/m.exec(read('CHANGELOG.md')) ?? [];
  expect(version).toBe(JSON.parse(read('packages/domain/package.json')).version);
});

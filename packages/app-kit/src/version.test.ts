import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readVersion, versionText } from './version.ts';

const { version } = JSON.parse(readFileSync(new URL('../../domain/package.json', import.meta.url), 'utf8'));

test.each([
  [{}, {}, version],
  [{ REVISION: '' }, {}, version],
  [{ REVISION: 'unknown' }, {}, version],
  [{ REVISION: '0a1b2c3' }, { revision: '0a1b2c3' }, `${version} (revision 0a1b2c3)`],
])('readVersion reads %o', (environment, revision, text) => {
  expect(readVersion(environment)).toEqual({ version, ...revision });
  expect(versionText(readVersion(environment))).toBe(text);
});

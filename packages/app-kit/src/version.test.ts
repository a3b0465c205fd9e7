import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readVersion, versionText } from './version.ts';

const { version } = JSON.parse(readFileSync(new URL('../../domain/package.json', import.meta.url), 'utf8'));

describe('readVersion', () => {
  test.each([{}, { REVISION: '' }, { REVISION: 'unknown' }])('leaves out the revision for %o', (environment) => {
    expect(readVersion(environment)).toEqual({ version });
    expect(versionText(readVersion(environment))).toBe(version);
  });

  test('has the revision that the image names', () => {
    expect(readVersion({ REVISION: '0a1b2c3' })).toEqual({ version, revision: '0a1b2c3' });
    expect(versionText(readVersion({ REVISION: '0a1b2c3' }))).toBe(`${version} (revision 0a1b2c3)`);
  });
});

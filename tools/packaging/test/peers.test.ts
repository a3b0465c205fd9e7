import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder } from '@animal-store/test-kit/fresh-folder';
import { describe, expect, inject, test } from 'vitest';
import { expectContractToPass } from './contract.ts';
import { folderOf, libraries, PACKAGES, readManifest } from './packages.ts';
import { installed } from './runtimes.ts';

const consumer = inject('consumer');

/** The adapters that have a driver. */
const ADAPTERS = PACKAGES.filter(
  (name) => /^adapter-(?!contract$)/.test(name) && libraries(readManifest(folderOf(name))).length > 0,
);

/** A project that depends on the packed packages, and on the oldest of each library that they support. */
function oldConsumer(): string {
  const folder = freshFolder();
  cpSync(join(consumer, 'package.json'), join(folder, 'package.json'));
  mkdirSync(join(folder, 'node_modules'));
  cpSync(join(consumer, 'node_modules/@animal-store'), join(folder, 'node_modules/@animal-store'), { recursive: true });
  for (const library of new Set(PACKAGES.flatMap((name) => libraries(readManifest(folderOf(name)))))) {
    symlinkSync(installed(`${library}-oldest`), join(folder, 'node_modules', library));
  }
  return folder;
}

describe('with the oldest libraries in the ranges of its peers', () => {
  test.each(PACKAGES)('%s is tested', (name) => {
    const manifest = readManifest(folderOf(name));
    for (const library of libraries(manifest)) {
      const { version } = readManifest(installed(`${library}-oldest`));
      expect(manifest.peerDependencies?.[library]).toMatch(new RegExp(`^\\^${version}(?: |$)`));
    }
  });

  test.each(ADAPTERS)('%s passes the contract', async (name) => {
    const { freshPlace } = await import(join(folderOf(name), 'test/fresh-place.ts'));
    const tests = `
      import { archiveContract, storageContract } from '@animal-store/adapter-contract';
      import { adapter } from '@animal-store/${name}/adapter';

      const places = ${JSON.stringify(Array.from({ length: 200 }, freshPlace))};
      const tested = { freshPlace: () => places.pop(), open: (place) => adapter.open(place), interruptions: 'not tested' };
      storageContract('${name}', tested);
      archiveContract('${name}', tested);
    `;
    await expectContractToPass(oldConsumer(), name, tests);
  });
});

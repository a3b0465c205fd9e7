import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshDatabase } from '@animal-store/test-mongodb';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { expectContractToPass } from './contract.ts';
import { folderOf, libraries, PACKAGES, readManifest } from './packages.ts';
import { installed } from './runtimes.ts';

const consumer = inject('consumer');

/** A project that depends on the packed packages, and on the oldest of each library that they support. */
function oldConsumer(): string {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-peers-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
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

  test('an adapter passes the contract', () => {
    const tests = `
      import { storageContract } from '@animal-store/adapter-contract';
      import { createMemory, openMemory } from './node_modules/@animal-store/adapter-memory/dist/memory-storage.js';

      storageContract('memory', { freshPlace: createMemory, open: openMemory });
    `;
    expectContractToPass(oldConsumer(), 'memory', tests);
  });

  test.skipIf('missing' in inject('mongodb'))('adapter-mongodb passes the contract', () => {
    const tests = `
      import { storageContract } from '@animal-store/adapter-contract';
      import { createMongoStorage } from '@animal-store/adapter-mongodb';
      import { MongoClient } from 'mongodb';
      import { onTestFinished } from 'vitest';

      function freshPlace() {
        const url = new URL(${JSON.stringify(freshDatabase())});
        url.pathname = '/' + crypto.randomUUID() + '_test';
        onTestFinished(async () => {
          const client = new MongoClient(url.href);
          await client.db().dropDatabase();
          await client.close();
        });
        return url.href;
      }

      storageContract('mongodb', { freshPlace, open: (url) => createMongoStorage({ url }) });
    `;
    expectContractToPass(oldConsumer(), 'mongodb', tests);
  });
});

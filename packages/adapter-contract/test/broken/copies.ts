import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqliteStorage } from '@animal-store/adapter-sqlite';
import { beforeEach, describe, onTestFinished } from 'vitest';
import {
  archiveContract,
  behindProxy,
  type Outage,
  type ProxiedPlace,
  type StorageUnderTest,
  storageContract,
} from '../../src/index.ts';
import { CHANGES, OPTIONS } from './bugs.ts';
import { openRemoteMemory, PASSWORD, type Place, placeAt, startServer } from './remote-memory.ts';
import { TABLE } from './table.ts';

const { PART, PARTS } = process.env;

/** Changes a place, and takes it back. */
const changed = (begin: Partial<Place>, end: Partial<Place>): Outage<ProxiedPlace> => ({
  begin: ({ url }) => void Object.assign(placeAt(url), begin),
  end: ({ url }) => void Object.assign(placeAt(url), end),
});

function adapterWith(bug: string): StorageUnderTest<ProxiedPlace> {
  const { outage = 'cut', ...options } = OPTIONS[bug] ?? {};
  const proxied = behindProxy({
    freshPlace: startServer,
    open(url) {
      if (bug === 'A malformed URL is a plain error' && !URL.canParse(url)) throw new TypeError('Invalid URL');
      const storage = openRemoteMemory(url, options);
      return { ...storage, ...CHANGES[bug]?.(storage, url) };
    },
    misconfiguredPlaces: async () => [(await startServer()).replace(`:${PASSWORD}`, '')],
  });
  return {
    ...proxied,
    // One of them, because each takes seconds.
    outages: bug === 'none' ? proxied.outages : { [outage]: proxied.outages[outage] },
    laterFormat: changed({ format: 3 }, { format: 1 }),
    losses: { 'taken away': { line: /^the place was lost$/, ...changed({ isLost: true }, { isLost: false }) } },
    expire() {},
    secrets: [PASSWORD],
  };
}

/** The memory has no archive. */
function archivingAdapterWith(bug: string): StorageUnderTest<string> {
  return {
    freshPlace() {
      const folder = mkdtempSync(join(tmpdir(), 'animal-store-contract-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      return join(folder, 'pets.db');
    },
    async open(file) {
      const storage = await createSqliteStorage({ file });
      return { ...storage, ...CHANGES[bug]?.(storage, file) };
    },
    outages: 'not tested',
  };
}

for (const [index, [bug, title]] of [['none', ''] as const, ...TABLE].entries()) {
  if (index % Number(PARTS) !== Number(PART)) continue;
  describe(bug, () => {
    beforeEach(({ task, skip }) => skip(bug !== 'none' && task.name !== title));
    storageContract('a copy', adapterWith(bug));
    archiveContract('a copy', archivingAdapterWith(bug));
  });
}

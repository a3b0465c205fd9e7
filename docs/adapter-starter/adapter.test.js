import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openShelf } from '@acme/animal-store-shelves';
import { storageContract } from '@animal-store/adapter-contract';
import { onTestFinished } from 'vitest';

const module = import.meta.resolve('@acme/animal-store-shelves');

storageContract('shelves', {
  freshPlace() {
    const folder = mkdtempSync(join(tmpdir(), 'shelves-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    return `shelf:${join(folder, 'zoo.db')}`;
  },
  open: openShelf,
  inAnotherProcess: (shelf) => ({ module, name: 'openShelf', options: shelf }),
  misconfiguredPlaces: () => ['zoo'],
  outages: 'not tested',
});

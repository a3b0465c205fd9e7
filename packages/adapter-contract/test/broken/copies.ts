import { beforeEach, describe } from 'vitest';
import { archiveContract, storageContract } from '../../src/index.ts';
import { BUGS } from './bugs.ts';
import { adapterWith } from './copies-adapter.ts';

/** COPIES: the bugs, as JSON; absent: each. CHECKS: `all`, also for a copy with a bug, or the one by which it is found. */
const { PART, PARTS, COPIES, CHECKS } = process.env;

const names = ['none', ...Object.keys(BUGS)].filter((bug) => COPIES === undefined || JSON.parse(COPIES).includes(bug));

for (const [index, bug] of names.entries()) {
  if (index % Number(PARTS) !== Number(PART)) continue;
  describe(bug, () => {
    beforeEach(({ task, skip }) => skip(bug !== 'none' && CHECKS !== 'all' && task.name !== BUGS[bug]?.foundBy));
    const adapter = adapterWith(bug);
    storageContract('a copy', adapter);
    archiveContract('a copy', adapter);
  });
}

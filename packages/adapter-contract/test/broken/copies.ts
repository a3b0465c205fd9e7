import * as fc from 'fast-check';
import { beforeEach, describe } from 'vitest';
import { archiveContract, storageContract } from '../../src/index.ts';
import { BUGS } from './bugs.ts';
import { adapterWith } from './copies-adapter.ts';

/** COPIES: the bugs, as JSON; absent: each. CHECKS: `all`, also for a copy with a bug, or the one by which it is found. */
const { PART, PARTS, COPIES, CHECKS } = process.env;

// A failure of a copy need not be shown by a short sequence of calls.
fc.configureGlobal({ endOnFailure: true });

/** Whether the next one of several belongs to this part. */
function partOf(): () => boolean {
  let count = 0;
  return () => count++ % Number(PARTS) === Number(PART);
}

const isCopyHere = partOf();
for (const bug of ['none', ...Object.keys(BUGS)].filter((bug) => !COPIES || JSON.parse(COPIES).includes(bug))) {
  // The checks of the right one are in all parts, because they take minutes.
  if (bug !== 'none' && !isCopyHere()) continue;
  const isCheckHere = partOf();
  describe(bug, () => {
    beforeEach(({ task, skip }) =>
      skip(bug === 'none' ? !isCheckHere() : CHECKS !== 'all' && task.name !== BUGS[bug]?.foundBy),
    );
    const adapter = adapterWith(bug);
    storageContract('a copy', adapter);
    archiveContract('a copy', adapter);
  });
}

import { describeWithPartitions, startPartitionableSet } from '@animal-store/test-servers/mongodb';
import { onTestFinished, test } from 'vitest';
import { checkConsistency, secondsOr } from '../src/check-consistency.ts';
import { replicaSetFaults, statesOf } from '../src/replica-set-faults.ts';

const ELECTION_TIMEOUT = 1_500;

const SECONDS = secondsOr(30);

describeWithPartitions('two processes on a replica set of three', () => {
  test(`show consistent pets while its members fail for ${SECONDS} seconds`, {
    timeout: SECONDS * 1_000 + 600_000,
  }, async () => {
    const set = await startPartitionableSet(ELECTION_TIMEOUT, [1, 1, 1]);
    onTestFinished(() => set.stop());
    const environment = { STORAGE: 'mongodb', MONGODB_URL: set.url('consistency') };
    await checkConsistency(environment, {
      seconds: SECONDS,
      faults: replicaSetFaults(set),
      diagnose: () => statesOf(set),
    });
  });
});

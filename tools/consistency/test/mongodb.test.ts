import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWithPartitions, startPartitionableSet } from '@animal-store/test-mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { checkHistory } from '../src/check-history.ts';
import { startClients } from '../src/clients.ts';
import { FAULTS, injectFaults } from '../src/faults.ts';
import type { History } from '../src/history.ts';
import { createServiceClient } from '../src/service-client.ts';
import { startServiceProcess } from '../src/service-process.ts';

/** How long members fail; the environment can ask for more. */
const SECONDS = Number(process.env['CONSISTENCY_SECONDS'] ?? 30);

const CLIENTS = 16;

const ELECTION_TIMEOUT = 1_500;

describeWithPartitions('two processes on a replica set of three', () => {
  test(`show consistent pets while its members fail for ${SECONDS} seconds`, {
    timeout: SECONDS * 1_000 + 180_000,
  }, async () => {
    const set = await startPartitionableSet(ELECTION_TIMEOUT, [1, 1, 1]);
    onTestFinished(() => set.stop());
    const url = set.url('consistency');
    const startService = async () => {
      const service = await startServiceProcess(url);
      onTestFinished(() => service[Symbol.asyncDispose]());
      return createServiceClient(service.port);
    };
    const clients = startClients([await startService(), await startService()], CLIENTS);
    const end = performance.now() + SECONDS * 1_000;
    const injecting = injectFaults(set, {
      until: () => performance.now() > end,
      acknowledged: clients.acknowledged,
    });
    await Promise.race([injecting, clients.ended]);
    const faults = await injecting;
    const history = await clients.finish();
    const violations = checkHistory(history);
    process.stdout.write(`${summaryOf(history, faults)}\n`);
    if (violations.length > 0) process.stdout.write(`The history is in ${save(history)}\n`);
    expect(violations.slice(0, 10)).toEqual([]);

    // Otherwise there was nothing to see.
    const { added, found, listed, unknown } = countsOf(history);
    for (const fault of Object.keys(FAULTS)) expect(faults).toHaveProperty(fault, expect.toSatisfy(isPositive));
    expect(added).toBeGreaterThan(10 * SECONDS);
    expect(found).toBeGreaterThan(4 * SECONDS);
    expect(listed).toBeGreaterThan(2 * SECONDS);
    expect(unknown).toBeGreaterThan(0);
    expect(history.stored.length).toBeGreaterThan(10 * SECONDS);
  });
});

const isPositive = (value: number): boolean => value > 0;

function countsOf({ operations }: History) {
  const successes = operations.filter(({ result }) => typeof result !== 'string');
  return {
    added: successes.filter(({ type }) => type === 'add').length,
    found: successes.filter(({ type }) => type === 'find').length,
    listed: successes.filter(({ type }) => type === 'list').length,
    unknown: operations.filter(({ result }) => result === 'unknown').length,
    failed: operations.filter(({ result }) => result === 'failed').length,
  };
}

function summaryOf(history: History, faults: Readonly<Record<string, number>>): string {
  const { added, found, listed, unknown, failed } = countsOf(history);
  const total = Object.values(faults).reduce((sum, count) => sum + count, 0);
  const each = Object.entries(faults).map(([fault, count]) => `${fault} ${count}`);
  return (
    `${history.operations.length} operations: ${added} creations acknowledged, ${unknown} of unknown outcome, ` +
    `${found} pets and ${listed} pages read, ${failed} failed; ${history.stored.length} pets stored; ` +
    `${total} faults (${each.join(', ')})`
  );
}

/**
 * Writes a history to a file, to be examined.
 *
 * @returns Its path.
 */
function save(history: History): string {
  const file = join(mkdtempSync(join(tmpdir(), 'animal-store-consistency-')), 'history.json');
  writeFileSync(file, JSON.stringify(history));
  return file;
}

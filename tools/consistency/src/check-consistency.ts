import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService } from '@animal-store/test-kit/service';
import { expect, onTestFinished } from 'vitest';
import { checkHistory } from './check-history.ts';
import { startClients } from './clients.ts';
import { type FaultPlan, injectFaults } from './faults.ts';
import type { History } from './history.ts';
import { createServiceClient } from './service-client.ts';

/** How many seconds the database suffers faults: the environment can ask for more. */
export function secondsOr(usual: number): number {
  return Number(process.env['CONSISTENCY_SECONDS'] ?? usual);
}

const CLIENTS = 16;

/**
 * Expects that clients of two processes see consistent pets while their database suffers faults.
 *
 * @param environment The variables that lead the processes to the database.
 */
export async function checkConsistency(environment: Readonly<Record<string, string>>, plan: FaultPlan): Promise<void> {
  const startClient = async () => {
    const service = await startService(environment);
    onTestFinished(() => service[Symbol.asyncDispose]());
    return createServiceClient(service.url);
  };
  const clients = startClients([await startClient(), await startClient()], CLIENTS);
  const injecting = injectFaults(plan, clients.acknowledged);
  await Promise.race([injecting, clients.ended]);
  const counts = await injecting;
  const history = await clients.finish();
  const violations = checkHistory(history);
  process.stdout.write(`${summaryOf(history, counts)}\n`);
  if (violations.length > 0) process.stdout.write(`The history is in ${save(history)}\n`);
  expect(violations.slice(0, 10)).toEqual([]);

  // Otherwise the history shows nothing.
  const { add, find, list, unknown } = countsOf(history);
  expect(Object.values(counts)).not.toContain(0);
  expect(Math.min(add, find, list, history.stored.length)).toBeGreaterThan(50);
  expect(unknown).toBeGreaterThan(0);
}

/** How many calls succeeded, by their type, and how many did not. */
function countsOf({ operations }: History) {
  const counts = { add: 0, find: 0, list: 0, unknown: 0, failed: 0 };
  for (const { type, result } of operations) counts[typeof result === 'string' ? result : type] += 1;
  return counts;
}

function summaryOf(history: History, faults: Readonly<Record<string, number>>): string {
  const { add, find, list, unknown, failed } = countsOf(history);
  const total = Object.values(faults).reduce((sum, count) => sum + count, 0);
  const each = Object.entries(faults).map(([fault, count]) => `${fault} ${count}`);
  return (
    `${history.operations.length} operations: ${add} creations acknowledged, ${unknown} of unknown outcome, ` +
    `${find} pets and ${list} pages read, ${failed} failed; ${history.stored.length} pets stored; ` +
    `${total} faults (${each.join(', ')})`
  );
}

/** Writes a history to a file, to be examined, and returns its path. */
function save(history: History): string {
  const file = join(mkdtempSync(join(tmpdir(), 'animal-store-consistency-')), 'history.json');
  writeFileSync(file, JSON.stringify(history));
  return file;
}

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const KIT = import.meta.resolve('../src/index.ts');
const never = 'new Promise(() => {})';

/** Runs a process in which a call waits, and returns what it prints. Rejects if it ends with another code than 0. */
async function printedBy(options: string, work: string, end: string): Promise<string> {
  const program = `
    const { createResource } = await import('${KIT}');
    const resource = createResource({ open: async () => 1, close() {}, isLost: () => false, ${options} });
    const call = resource.call(() => ${work}).catch(({ code }) => code);
    await new Promise(setImmediate);
    ${end}`;
  const flags = ['--conditions=@animal-store/source', '--input-type=module', '--eval', program];
  return (await promisify(execFile)(process.execPath, flags)).stdout.trim();
}

describe('a process in which nothing else waits', () => {
  test.each([
    ['a result', '', never],
    ['an opening', `open: () => ${never}`, '1'],
  ])('is not kept alive by the time limit of a call that waits for %s', async (_, options, work) => {
    expect(await printedBy(options, work, 'call.then(console.log)')).toBe('');
  });

  test.each([
    ['a result', '', never],
    ['an opening', `open: () => ${never}`, '1'],
    ['a result and the end of the connection', `close: () => ${never}`, never],
  ])('closes a resource, and rejects a call that waits for %s', async (_, options, work) => {
    const end = 'await resource.close(); console.log(await call)';
    expect(await printedBy(options, work, end)).toBe('storage_unavailable');
  });
});

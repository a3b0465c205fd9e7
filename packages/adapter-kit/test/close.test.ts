import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const KIT = import.meta.resolve('../src/index.ts');
const never = 'new Promise(() => {})';

/** Runs a process in which a call waits for something that never ends, and keeps no process alive, when the storage closes. */
async function closeWhileWaiting(options: string, work: string): Promise<string> {
  const program = `
    const { createResource } = await import('${KIT}');
    const resource = createResource({ open: async () => 1, close() {}, isLost: () => false, ${options} });
    const call = resource.call(() => ${work}).catch(({ code }) => code);
    await new Promise(setImmediate);
    await resource.close();
    console.log(await call);`;
  const flags = ['--conditions=@animal-store/source', '--input-type=module', '--eval', program];
  return (await promisify(execFile)(process.execPath, flags)).stdout.trim();
}

describe('close, if nothing else keeps the process alive,', () => {
  test.each([
    ['an opening', `open: () => ${never}`, '1'],
    ['a result', '', never],
    ['a result and the end of the connection', `close: () => ${never}`, never],
  ])('resolves, and rejects a call that waits for %s', async (_, options, work) => {
    expect(await closeWhileWaiting(options, work)).toBe('storage_unavailable');
  });
});

import { totalmem } from 'node:os';
import { describe, expect, test, vi } from 'vitest';
import { createMetrics } from './metrics.ts';

describe('createMetrics', () => {
  test('renders the metrics once for concurrent calls, and anew for later ones', async () => {
    const { countUnexpectedError, read } = createMetrics({ version: '1.0.0' }, () => 0);
    const first = read();
    expect(read()).toBe(first);
    await first;
    countUnexpectedError();
    expect(await read()).toMatch(/^animal_store_internal_errors_total 1$/m);
  });

  test.each([
    [0, totalmem()],
    [2 ** 64, totalmem()],
    [1_000_000, 1_000_000],
  ])('says the smaller of the limit of the container (%d) and the memory of the machine: %d', async (limit, bytes) => {
    vi.spyOn(process, 'constrainedMemory').mockReturnValueOnce(limit);
    const text = await createMetrics({ version: '1.0.0' }, () => 0).read();
    expect(text).toMatch(new RegExp(`^animal_store_memory_limit_bytes ${bytes}$`, 'm'));
    expect(text).toMatch(/^animal_store_build_info\{version="1.0.0"\} 1$/m);
  });

  test('counts key lookups by result, and lost lines, and says whether the storage is available', async () => {
    let lost = 0;
    const { keyLookedUp, storageChecked, read } = createMetrics({ version: '1.0.0' }, () => lost);
    const values = async () => {
      const lines = (await read()).split('\n');
      return lines.filter((line) => /^animal_store_(?:key_lookups|log_lines_lost|storage_up)/.test(line)).sort();
    };
    expect(await values()).toEqual(['animal_store_log_lines_lost_total 0', 'animal_store_storage_up 0']);
    lost = 3;
    storageChecked(true);
    for (const cached of [true, true, false]) keyLookedUp(cached);
    const counts = [
      'animal_store_key_lookups_total{result="hit"} 2',
      'animal_store_key_lookups_total{result="miss"} 1',
      'animal_store_log_lines_lost_total 3',
    ];
    expect(await values()).toEqual([...counts, 'animal_store_storage_up 1']);
    storageChecked(false);
    expect(await values()).toEqual([...counts, 'animal_store_storage_up 0']);
  });
});

import { describe, expect, test } from 'vitest';
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

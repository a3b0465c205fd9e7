import { describe, expect, test } from 'vitest';
import { createMetrics } from './metrics.ts';

describe('createMetrics', () => {
  test('renders the metrics once for concurrent requests, and anew for later ones', async () => {
    const { countUnexpectedError, read } = createMetrics({ logLinesLost: () => 0, dropReasons: [] });
    const [one, other] = await Promise.all([read(), read()]);
    expect(other).toBe(one);
    countUnexpectedError();
    expect((await read()).body).toMatch(/^animal_store_internal_errors_total 1$/m);
  });
});

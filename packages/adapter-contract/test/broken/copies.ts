import { describe } from 'vitest';
import { EXPECTATIONS, testAdapter } from '../broken-copies.ts';
import type { Bug } from '../storage.ts';

const { PART, PARTS } = process.env;

for (const [index, [bug, { declare }]] of Object.entries(EXPECTATIONS).entries()) {
  if (index % Number(PARTS) === Number(PART)) describe(bug, () => declare(testAdapter(bug as Bug)));
}

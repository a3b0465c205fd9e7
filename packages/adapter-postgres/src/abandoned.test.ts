import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { createAbandoned } from './abandoned.ts';
import { kindOf } from './failures.ts';

describe('createAbandoned', () => {
  test.each(['25006', '40001', '0A000'])(
    'lets no write be repeated if asking the server fails with %s',
    async (code) => {
      const failure = Object.assign(new pg.DatabaseError('no', 0, 'error'), { code });
      const { requireIdle } = createAbandoned(() => Promise.reject(failure));
      await expect(requireIdle({ deadline: 0, hasEnded: false })).rejects.toSatisfy(
        (error) => kindOf(error) === 'not begun',
      );
    },
  );
});

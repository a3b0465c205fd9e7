import { overloaded } from '@animal-store/domain/ports';
import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { TIME_LIMITS } from '../time-limits.ts';
import { createConnection } from './connection.ts';

const succeed = async () => {};
const failWith = (failure: unknown) => () => Promise.reject(failure);

/** A connection that never connects, and what prepares its database. */
function connection() {
  const prepare = vi.fn(succeed);
  const { call, close } = createConnection('postgres://localhost/animals', TIME_LIMITS, prepare);
  onTestFinished(close);
  return { call, prepare };
}

describe('createConnection', () => {
  test('does not prepare the database again after an overload', async () => {
    const { call, prepare } = connection();
    await expect(call(failWith(overloaded()))).rejects.toEqual(overloaded());
    await call(succeed);
    expect(prepare).toHaveBeenCalledTimes(1);
  });

  test('does not prepare the database again if a call that began before the last preparation fails', async () => {
    const { call, prepare } = connection();
    const { promise, reject } = Promise.withResolvers<void>();
    const early = call(() => promise);
    await expect(call(failWith(new Error('lost')))).rejects.toMatchObject({ code: 'storage_unavailable' });
    await call(succeed);
    expect(prepare).toHaveBeenCalledTimes(2);
    reject(new Error('lost'));
    await expect(early).rejects.toMatchObject({ code: 'storage_unavailable' });
    await call(succeed);
    expect(prepare).toHaveBeenCalledTimes(2);
  });

  describe('if calls fail with a defect', () => {
    const defect = Object.assign(new pg.DatabaseError('no such column', 0, 'error'), { code: '42703' });

    test('prepares the database once for all of them', async () => {
      const { call, prepare } = connection();
      const ends = await Promise.allSettled(Array.from({ length: 1_000 }, () => call(failWith(defect))));
      expect(new Set(ends.map((end) => end.status === 'rejected' && end.reason))).toEqual(new Set([defect]));
      expect(prepare).toHaveBeenCalledTimes(2);
    });

    test('prepares it again with the next call if the preparation fails', async () => {
      const { call, prepare } = connection();
      prepare.mockImplementationOnce(succeed).mockRejectedValueOnce(new Error('lost'));
      await expect(call(failWith(defect))).rejects.toMatchObject({ cause: { message: 'lost' } });
      await call(succeed);
      expect(prepare).toHaveBeenCalledTimes(3);
    });
  });
});

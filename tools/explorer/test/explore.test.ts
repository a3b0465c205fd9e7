import { beforeEach, describe, expect, test, vi } from 'vitest';
import { findingsOf } from './findings.ts';

/** What the explorer finds in a scenario of worlds.ts. */
async function failureOf(name: string) {
  const [finding] = await findingsOf(new URL('worlds.ts', import.meta.url), name);
  return finding?.failing;
}

// The nights draw others, in which other schedules come first.
beforeEach(() => void vi.stubEnv('SEED', '1'));

describe('explore', () => {
  test('finds the schedule in which two clients lose an update, and prints it as names', async () => {
    expect(await failureOf('lost update')).toEqual({
      schedule: [
        ...['one: add', 'run read', 'reply read'],
        ...['two: add', 'run read #2'],
        ...['run write', 'reply read #2', 'reply write', 'run write #2', 'reply write #2'],
      ],
      error: 'an update was lost: 1',
    });
  });

  test('leaves out the steps that an error does not need', async () => {
    expect(await failureOf('error at any time')).toEqual({ schedule: ['it breaks'], error: 'it is broken' });
  });

  test('finds a rejection that nothing handles', async () => {
    expect(await failureOf('unhandled rejection')).toMatchObject({ error: 'nobody waits for this' });
  });

  test.each([
    ['outside variable', /the scenario is not deterministic/],
    ['endless run', /more than 1000 steps/],
    ['real timer', /a real timer or real work is pending/],
  ])('reports a scenario that it cannot explore: %s', async (name, message) => {
    const outcome = await failureOf(name).then(
      (failing) => failing?.error,
      (error: Error) => error.message,
    );
    expect(outcome).toMatch(message);
  });
});

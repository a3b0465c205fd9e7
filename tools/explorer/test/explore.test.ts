import { describe, expect, test } from 'vitest';
import { findingsOf } from './findings.ts';

/** The program of a scenario in this folder, in a process of its own: timers and clocks are replaced there. */
const explored = (name: string) => findingsOf(new URL(`scenarios/${name}.ts`, import.meta.url));

describe('explore', () => {
  test('finds the order in which two clients lose an update, and prints it as names', async () => {
    const [lost, safe] = await explored('lost-update');
    expect(lost?.failing).toEqual({
      events: [
        'one: add',
        'two: add',
        ...['run read', 'reply read', 'run read #2', 'reply read #2'],
        ...['run write', 'reply write', 'run write #2', 'reply write #2'],
      ],
      error: 'an update was lost: 1',
    });
    expect(safe?.failing).toBeNull();
  });

  test('finds a rejection that nothing handles', async () => {
    const [finding] = await explored('unhandled-rejection');
    expect(finding?.failing?.error).toBe('nobody waits for this');
  });

  test.each([
    ['hidden-sharing', /processes share more than they declare/],
    ['real-timer', /a real timer or real work is pending/],
    ['changed-value', /Cannot (?:add|assign)/],
  ])('reports a scenario that it cannot explore: %s', async (name, message) => {
    const outcome = await explored(name).then(
      ([finding]) => finding?.failing?.error ?? 'nothing',
      (error: Error) => error.message,
    );
    expect(outcome).toMatch(message);
  });
});

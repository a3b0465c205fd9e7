import { DomainError } from '@animal-store/domain';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { monitorStorage } from './storage-monitor.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const MINUTE = 60_000;

const OUT_OF_REACH = new DomainError('service_unavailable', 'try again', { cause: new Error('connect ECONNREFUSED') });
const REFUSED = new DomainError('service_unavailable', 'try again', { cause: new Error('Authentication failed') });
const REFUSED_LINE = 'the server refuses the password';

/** A check of a storage that fails with what stands in `state.failure`. */
function check(failure: Error | null, mistakeInContents: string | null = null) {
  const state = { failure, mistakeInContents };
  const said: string[] = [];
  const say = (level: string) => (message: string, details?: object) =>
    void said.push(`${level} ${message} ${JSON.stringify(details)}`);
  const mistakes: string[] = [];
  const looks: boolean[] = [];
  const { stop } = monitorStorage({
    storage: {
      async ready() {
        if (state.failure !== null) throw state.failure;
      },
    },
    names: { at: 'host:1' },
    misconfiguration: (error) => (error === REFUSED ? REFUSED_LINE : null),
    mistakeInContents: async () => state.mistakeInContents,
    onMistake: (mistake) => mistakes.push(mistake),
    onCheck: (inReach) => looks.push(inReach),
    log: { info: say('info'), warn: say('warn'), error: say('error') },
  });
  onTestFinished(stop);
  return { state, said, mistakes, looks, stop, pass: (time: number) => vi.advanceTimersByTimeAsync(time) };
}

const LOST =
  'warn the storage is out of reach: until it is back, requests that need it are answered with 503 ' +
  '{"at":"host:1","reason":"connect ECONNREFUSED"}';
const BACK = 'info the storage is in reach {"at":"host:1"}';
const WRONG = `error requests that need the storage are answered with 503: ${REFUSED_LINE} {"at":"host:1"}`;

test('a storage that works is not worth a word', async () => {
  const { said, mistakes, pass } = check(null);
  await pass(10 * MINUTE);
  expect([said, mistakes]).toEqual([[], []]);
});

test('one that is out of reach is named once, with the reason and no stack, and once more when it is back', async () => {
  const { state, said, mistakes, looks, pass } = check(OUT_OF_REACH);
  await pass(10 * MINUTE);
  expect(said).toEqual([LOST]);
  expect(new Set(looks)).toEqual(new Set([false]));
  state.failure = null;
  await pass(3_000);
  expect(said).toEqual([LOST, BACK]);
  expect(looks.at(-1)).toBe(true);
  state.failure = OUT_OF_REACH;
  await pass(MINUTE);
  expect(said).toEqual([LOST, BACK, LOST]);
  expect(mistakes).toEqual([]);
});

test('a mistake of configuration is fatal until the storage was reached once, and ends the check', async () => {
  const { state, said, mistakes, pass } = check(OUT_OF_REACH);
  await pass(MINUTE);
  state.failure = REFUSED;
  await pass(MINUTE);
  expect(mistakes).toEqual([REFUSED_LINE]);
  expect(said).toEqual([LOST]);
});

test('afterwards it is an error at most once a minute, and heals', async () => {
  const { state, said, mistakes, pass } = check(null);
  await pass(0);
  state.failure = REFUSED;
  await pass(MINUTE);
  expect(said).toEqual([WRONG]);
  await pass(2 * MINUTE);
  expect(said).toEqual([WRONG, WRONG, WRONG]);
  state.failure = null;
  await pass(3_000);
  expect(said).toEqual([WRONG, WRONG, WRONG, BACK]);
  expect(mistakes).toEqual([]);
});

test('a mistake that comes back is told at once, however short it was gone', async () => {
  const { state, said, pass } = check(null);
  await pass(0);
  for (const failure of [REFUSED, null, REFUSED]) {
    state.failure = failure;
    await pass(16_000);
  }
  expect(said).toEqual([WRONG, BACK, WRONG]);
});

test('what is stored is looked at until the storage was reached once, and not afterwards', async () => {
  const wrong = check(null, 'there is no API key');
  await wrong.pass(MINUTE);
  expect([wrong.mistakes, wrong.said]).toEqual([['there is no API key'], []]);

  const right = check(null);
  await right.pass(0);
  right.state.mistakeInContents = 'there is no API key';
  await right.pass(MINUTE);
  expect(right.mistakes).toEqual([]);
});

test.each([OUT_OF_REACH, REFUSED, null])('once stopped it says nothing more, of %s either', async (failure) => {
  const { said, mistakes, stop, pass } = check(failure, 'there is no API key');
  stop();
  await pass(MINUTE);
  expect([said, mistakes, vi.getTimerCount()]).toEqual([[], [], 0]);
});

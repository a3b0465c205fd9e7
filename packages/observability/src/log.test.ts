import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { LogLevel } from './event-format.ts';
import { LINE_WRITER_LIMITS } from './line-writer.ts';
import { createLog, type Log } from './log.ts';

/** The content of the log after this. */
async function logged(
  write: (log: Log, read: () => string) => void | Promise<void>,
  {
    level = 'info',
    readable = false,
    mayBlock = true,
  }: { level?: LogLevel; readable?: boolean; mayBlock?: boolean } = {},
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-log-'));
  const file = join(folder, 'log');
  const fd = openSync(file, 'a');
  onTestFinished(() => {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  const log = createLog(level, { output: { fd, mayBlock }, readable });
  const read = () => readFileSync(file, 'utf8');
  await write(log, read);
  await log.close();
  return read();
}

const objects = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** An event and an unexpected error. */
function writeAll(log: Log): void {
  log.info('an event', { port: 3000 });
  log.unexpectedError(new Error('a defect', { cause: new TypeError('its cause') }), { requestId: 'two' });
}

describe('createLog', () => {
  test('writes one JSON object a line', async () => {
    const [event, error, ...more] = objects(await logged(writeAll));
    expect(event).toEqual({ level: 30, time: expect.any(Number), msg: 'an event', port: 3000 });
    expect(error).toEqual({
      level: 50,
      time: expect.any(Number),
      msg: 'unexpected error',
      requestId: 'two',
      err: {
        type: 'Error',
        message: 'a defect',
        stack: expect.stringMatching(/^Error: a defect\n +at .*\ncaused by: TypeError: its cause\n +at /s),
      },
    });
    expect(more).toEqual([]);
  });

  test('logs a thrown value that is not an Error', async () => {
    const [undef, object, nested] = objects(
      await logged(({ unexpectedError }) => {
        unexpectedError(undefined);
        unexpectedError(Object.create(null));
        unexpectedError({ request: { key: 'a secret' } });
      }),
    );
    expect(undef).toMatchObject({ err: { type: 'undefined', message: 'undefined' } });
    expect(object).toMatchObject({ err: { type: 'object', message: '[Object: null prototype] {}' } });
    expect(nested).toMatchObject({ err: { message: '{ request: [Object] }', stack: '{ request: [Object] }' } });
  });

  test('logs an error that is its own cause', async () => {
    const error = new Error('a circle');
    error.cause = error;
    const [{ err }] = objects(await logged(({ unexpectedError }) => unexpectedError(error))) as [{ err: Error }];
    expect(err.stack?.match(/^caused by: Error: a circle$/gm)).toHaveLength(5);
  });

  test('writes warnings and errors with their levels, and nothing after a message without details', async () => {
    const write = ({ warn, error }: Log) => {
      warn('a warning');
      error('an error');
    };
    expect(objects(await logged(write)).map(({ level, msg }) => [level, msg])).toEqual([
      [40, 'a warning'],
      [50, 'an error'],
    ]);
    expect(await logged(write, { readable: true })).toMatch(/^\S+Z a warning\n\S+Z an error\n$/);
  });

  test('writes plain text for a person, with the stack of an unexpected error', async () => {
    const lines = (await logged(writeAll, { readable: true })).split('\n');
    const date = /^\d{4}-\d\d-\d\dT[\d:.]+Z /;
    expect(lines.slice(0, 2)).toEqual([expect.stringMatching(date), expect.stringMatching(date)]);
    expect(lines.slice(0, 3).map((line) => line.replace(date, ''))).toEqual([
      'an event {"port":3000}',
      'unexpected error {"requestId":"two"}',
      'Error: a defect',
    ]);
    expect(lines[3]).toMatch(/^ +at /);
  });

  test('writes no event below its level, but texts and lines', async () => {
    expect(objects(await logged(writeAll, { level: 'error' }))).toEqual([expect.objectContaining({ level: 50 })]);
    expect(await logged(writeAll, { level: 'silent' })).toBe('');
    expect(await logged(({ print }) => print('Hello\n'), { level: 'silent' })).toBe('Hello\n');
    expect(await logged(({ addLine }) => addLine('a line\n'), { level: 'silent' })).toBe('a line\n');
  });

  test('writes an event without waiting for others, and the lines before it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await logged(
      async ({ addLine, info }, read) => {
        addLine('a line\n');
        info('an event');
        await new Promise((resolve) => setImmediate(resolve));
        expect(read()).toMatch(/^a line\n\{.*"an event"\}\n$/);
      },
      { mayBlock: false },
    );
  });

  test('warns of lines that were lost before the next one', async () => {
    const [warning, event] = objects(
      await logged((log) => {
        log.print(`${'x'.repeat(LINE_WRITER_LIMITS.waiting)}\n`);
        expect(log.linesLost()).toBe(1);
        log.info('an event');
      }),
    );
    expect(warning).toMatchObject({
      level: 40,
      msg: 'log lines were lost',
      lines: 1,
      reason: 'the reader is too slow',
    });
    expect(event).toMatchObject({ msg: 'an event' });
  });

  test.each<[LogLevel, LogLevel, boolean]>([
    ['info', 'debug', false],
    ['info', 'info', true],
    ['debug', 'info', true],
    ['silent', 'fatal', false],
  ])('says at level %s whether %s is enabled: %s', async (level, other, enabled) => {
    expect.assertions(1);
    await logged(({ isLevelEnabled }) => expect(isLevelEnabled(other)).toBe(enabled), { level });
  });

  test('logs a throttled warning at once, and then once a minute with the number of occurrences', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const text = await logged(({ warnThrottled }) => {
      warnThrottled('a warning');
      warnThrottled('a warning');
      warnThrottled('something else', { reason: 'a reason' });
      vi.advanceTimersByTime(60_000);
      warnThrottled('a warning');
    });
    expect(objects(text).map(({ level, msg, times, reason }) => [level, msg, times, reason])).toEqual([
      [40, 'a warning', 1, undefined],
      [40, 'something else', 1, 'a reason'],
      [40, 'a warning', 2, undefined],
    ]);
  });
});

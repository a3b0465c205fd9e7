import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLineWriter, LINE_WRITER_LIMITS } from './line-writer.ts';

/** A named pipe and its reader. It holds 64 KiB. */
function pipe(mode = constants.O_NONBLOCK) {
  const folder = mkdtempSync(join(tmpdir(), 'line-writer-'));
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const fd = openSync(path, constants.O_WRONLY | mode);
  onTestFinished(() => {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });

  /** All that is in the pipe now. */
  function read(): string {
    const buffer = Buffer.alloc(1024 * 1024);
    try {
      return buffer.toString('utf8', 0, readSync(reader, buffer));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      return '';
    }
  }

  /** Reads again and again until the text ends with this. */
  async function readUntil(end: string): Promise<string> {
    let text = '';
    const readMore = () => {
      text += read();
      return text.slice(-end.length);
    };
    await expect.poll(readMore, { interval: 5 }).toBe(end);
    return text;
  }

  return { fd, read, readUntil };
}

const report = (lines: number, reason: string) => `lost ${lines}: ${reason}\n`;

function writerTo(fd: number, limits: Partial<typeof LINE_WRITER_LIMITS> = {}) {
  return createLineWriter({ fd, mayBlock: false }, report, { ...LINE_WRITER_LIMITS, delay: 10, ...limits });
}

/** Lines of 1,000 bytes, numbered. */
const lines = (count: number, first = 0) =>
  Array.from({ length: count }, (_, index) => `${String(first + index).padEnd(999, '.')}\n`);

// tools/explorer shows that each line is written once or counted as lost, and that a close ends at its timeout.

describe('createLineWriter', () => {
  test('writes lines in order, after a delay or when flushed', async () => {
    const { fd, read, readUntil } = pipe();
    const { add, flush } = writerTo(fd, { delay: 100 });
    add('one\n');
    add('two\n');
    await sleep(20);
    expect(read()).toBe('');
    expect(await readUntil('two\n')).toBe('one\ntwo\n');
    add('three\n');
    flush();
    await sleep(20);
    expect(read()).toBe('three\n');
  });

  test('drops lines when the buffer is full, and reports how many', async () => {
    const { fd, readUntil } = pipe();
    const { add, lost } = writerTo(fd, { waiting: 160_000 });
    const given = lines(976);
    for (const line of given) add(line);
    expect(lost()).toBe(816);
    const text = await readUntil(given[159] as string);
    expect(text.replace(/^lost .*\n/m, '')).toBe(given.slice(0, 160).join(''));
    expect(text.match(/^lost .*$/gm)).toEqual(['lost 816: the reader is too slow']);
    // What was written leaves the buffer.
    add(given.slice(0, 100).join(''));
    expect(lost()).toBe(816);
  });

  test('waits for a write that blocks for a limited time when closed', async () => {
    const { fd, readUntil } = pipe(0);
    const output = { fd, mayBlock: true };
    const { add, close } = createLineWriter(output, report, { ...LINE_WRITER_LIMITS, closeTimeout: 100 });
    for (const line of lines(200)) add(line);
    await close();
    // Otherwise the thread of the write would keep the process of the test.
    await readUntil(lines(1, 199)[0] as string);
  });
});

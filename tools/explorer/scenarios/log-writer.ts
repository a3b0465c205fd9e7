import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { promisify } from 'node:util';
import { trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

// The writer of the log, to a pipe that takes a few bytes at a time, and whose reader stops, goes and returns, and to a file
// whose writes fail, are partial or block. Each line is written once, in order, or counted as lost. Losses are reported before the
// next line, and a close ends in time.

const WRITER = 'packages/observability/src/line-writer.ts';

interface Modules {
  createLineWriter(
    output: { fd: number; mayBlock: boolean },
    reportLoss: (lines: number) => string,
    limits: { chunk: number; delay: number; waiting: number; closeTimeout: number },
  ): { add(lines: string): void; flush(): void; lost(): number; close(): Promise<void> };
}

interface Sizes {
  readonly lines: readonly string[];
  /** How many bytes the pipe holds; null: a file. */
  readonly capacity: number | null;
  /** How often the reader empties the pipe. */
  readonly reads?: number;
  readonly isLeft?: boolean;
  /** Whether the writes to a file may block, instead of failing. */
  readonly blocks?: boolean;
}

/** The output of the present run. */
const output: { writeSync(bytes: Buffer): number; write(bytes: Buffer): Promise<number> } = {
  writeSync: () => 0,
  write: async () => 0,
};
Object.assign(fs, {
  writeSync: (_fd: number, bytes: Buffer) => output.writeSync(bytes),
  write: Object.assign(() => {}, {
    [promisify.custom]: async (_fd: number, bytes: Buffer) => ({ bytesWritten: await output.write(bytes) }),
  }),
});
syncBuiltinESMExports();

const failure = (code: string) => Object.assign(new Error(code), { code });

const CLOSE_TIMEOUT = 100;

const scenario =
  ({ lines, capacity, reads = 0, isLeft = false, blocks = false }: Sizes) =>
  ({ createLineWriter }: Modules) =>
  (world: World) => {
    const shared = world.shared({ text: '', free: capacity ?? 0, isOpen: true, failures: 0, isBlocked: false });
    const take = (bytes: Buffer, count: number) => {
      shared.text += String(bytes.subarray(0, count));
      return count;
    };
    output.writeSync = (bytes) => {
      if (!shared.isOpen) throw failure('EPIPE');
      if (shared.free === 0) throw failure('EAGAIN');
      const count = take(bytes, Math.min(shared.free, bytes.length));
      shared.free -= count;
      return count;
    };
    output.write = (bytes) => {
      const all = () => take(bytes, bytes.length);
      const half = () => {
        shared.failures += 1;
        return take(bytes, Math.ceil(bytes.length / 2));
      };
      const fails = (): number => {
        shared.failures += 1;
        throw failure('EIO');
      };
      return world.command('write', {
        can: () => !shared.isBlocked,
        run: shared.failures < 3 && !blocks ? { all, half, fails } : { all },
      });
    };

    const writer = createLineWriter({ fd: 1, mayBlock: capacity === null }, (count) => `-${count}\n`, {
      ...{ chunk: 6, delay: 20, waiting: 9, closeTimeout: CLOSE_TIMEOUT },
    });
    const isWriting = () => [...world.commands.keys()].some((name) => name.startsWith('write'));
    /** When a close began, and what had been written when it ended. */
    let closingAt = Number.POSITIVE_INFINITY;
    let textAtEnd: string | null = null;
    world.client('log', [
      ...lines.map(
        (line) =>
          async function add() {
            writer.add(line);
          },
      ),
      async function close() {
        closingAt = world.now();
        await writer.close();
        textAtEnd = shared.text;
        if (!isWriting()) check(textAtEnd);
        writer.add('late\n');
      },
    ]);
    world.always(() => {
      // A pause between two attempts may end after the deadline.
      if (textAtEnd === null && world.now() - closingAt > 2 * CLOSE_TIMEOUT) throw new Error('a close takes too long');
    });
    world.finally(() => {
      if (!blocks && shared.text !== textAtEnd) throw new Error('something was written after a close');
    });

    if (reads > 0) {
      world.event('the pipe is read', {
        may: true,
        times: reads,
        can: () => shared.isOpen && shared.free < (capacity ?? 0),
        run: () => {
          shared.free = capacity ?? 0;
        },
      });
    }
    if (isLeft) {
      world.event('the reader goes', {
        may: true,
        run: () => {
          shared.isOpen = false;
        },
      });
      world.event('a reader comes', {
        may: true,
        can: () => !shared.isOpen,
        run: () => {
          shared.isOpen = true;
          shared.free = capacity ?? 0;
        },
      });
    }
    if (blocks) {
      world.event('writes block, or not any more', {
        may: true,
        times: 2,
        run: () => {
          shared.isBlocked = !shared.isBlocked;
        },
      });
    }
    world.pass(20);

    function check(text: string): void {
      const all = lines.join('').split('\n').slice(0, -1);
      const written = text.split('\n').filter((line) => line !== '');
      const kept = written.filter((line) => all.includes(line));
      const reports = written.filter((line) => /^-\d+$/.test(line));
      const parts = written.filter((line) => !kept.includes(line) && !reports.includes(line));
      const lost = writer.lost();
      const reported = reports.reduce((sum, line) => sum - Number(line), 0);
      const shown = `${JSON.stringify(text)}, lost: ${lost}`;
      if (kept.join() !== all.filter((line) => kept.includes(line)).join()) throw new Error(`not in order: ${shown}`);
      if (kept.length + lost !== all.length) throw new Error(`losses are not exact: ${shown}`);
      if (reported > lost) throw new Error(`losses are reported twice: ${shown}`);
      if (kept.at(-1) === all.at(-1) && reported < lost) throw new Error(`losses are not reported: ${shown}`);
      if (!parts.every((part) => [...all, '-'].some((line) => line.startsWith(part)))) {
        throw new Error(`these are no lines: ${shown}`);
      }
    }
  };

const lines = ['aa\n', 'b\ncc\n', 'dd\n', 'eee\n'];

const CLOSE = 'await (mayBlock ? Promise.race([writing, sleep(limits.closeTimeout, null, { ref: false })]) : writing);';

const LOSS = 'countLines(String(rest)) - Number(isEnd)';

await trial<Modules>('a pipe of 4 bytes, read 3 times', [WRITER], scenario({ lines, capacity: 4, reads: 3 }), {
  samples: 100,
  errors: [
    ['a line that lacks its line feed is lost', WRITER, LOSS, 'countLines(String(rest))'],
    ['lines that were written are lost with the others', WRITER, LOSS, 'countLines(lines)'],
    ['a close waits for the reader', WRITER, "code !== 'EAGAIN' || performance.now() > deadline", "code !== 'EAGAIN'"],
    ['a write in part counts as a whole', WRITER, 'rest.subarray(bytesWritten)', 'rest.subarray(rest.length)'],
  ],
});
await trial<Modules>(
  'a pipe of 4 bytes, its reader goes and comes',
  [WRITER],
  scenario({ lines, capacity: 4, reads: 1, isLeft: true }),
  {
    samples: 100,
    errors: [
      ['a report follows a line in part', WRITER, 'Buffer.from(endsMidLine ?', 'Buffer.from(false ?'],
      ['losses are reported again', WRITER, 'losses.unreported -= unreported', '{}'],
    ],
  },
);
await trial<Modules>('a file, 3 failures', [WRITER], scenario({ lines, capacity: null }), {
  samples: 100,
  errors: [
    ['lines are written while others are', WRITER, 'writing ??= writeDue()', 'writing = writeDue()'],
    ['lines that come during a write wait forever', WRITER, 'while (isDue) {', 'if (isDue) {'],
    ['a close does not wait', WRITER, CLOSE, ''],
  ],
});
await trial<Modules>('a file whose writes block', [WRITER], scenario({ lines, capacity: null, blocks: true }), {
  samples: 100,
  errors: [['a close waits for a write that blocks', WRITER, CLOSE, 'await writing;']],
});

import { PassThrough, Readable } from 'node:stream';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import { openStorage } from '@animal-store/app-kit';
import { createCatalogue } from '@animal-store/domain';
import type { Storage } from '@animal-store/domain/ports';
import type { Context } from '../src/context.ts';
import { runProgram } from '../src/program.ts';

/** Christmas Eve of 2026. */
const NOW = Date.UTC(2026, 11, 24);

/** What a call says that had too little time. */
const TOO_LATE =
  / is unavailable: (?:no (?:response|batch) |the (?:thread was not ready|disk takes|storage (?:could not begin|opened)))/;

interface Options {
  readonly isTTY?: boolean;
  /** Whether messages are written to a terminal, and results to a file. */
  readonly hasTerminal?: boolean;
  /** Names the storages. Without it, they are those that follow. */
  readonly environment?: NodeJS.ProcessEnv;
  readonly storage?: Storage;
  /** The target of copies. */
  readonly target?: Storage;
}

/** The command line in this process, by default on a memory of its own. */
export function commandLine(options: Options = {}) {
  const {
    isTTY = false,
    hasTerminal = isTTY,
    environment,
    storage = createMemoryStorage(),
    target = storage,
  } = options;
  const time = { now: NOW };

  const openGiven: Context['openStorage'] = async ({ subject }) => {
    const opened = { ...(subject === '--to' ? target : storage), close: async () => {} };
    return { storage: opened, description: '', warnings: [] };
  };

  async function runProgramWith(input: string | Buffer | Readable, words: readonly string[]) {
    const [stdout, stderr] = [outputOf(isTTY), outputOf(hasTerminal)];
    const code = await runProgram({
      words,
      environment: environment ?? { SQLITE_FILE: 'animals.db' },
      stdin: input instanceof Readable ? input : Readable.from([Buffer.from(input)]),
      stdout,
      stderr,
      clock: () => time.now,
      openStorage: environment ? openStorage : openGiven,
    });
    return { code, bytes: (stdout.read() ?? Buffer.of()) as Buffer, err: String(stderr.read() ?? '') };
  }

  /** Returns the exit code of a command, and what it wrote. */
  async function runWith(input: string | Buffer | Readable, ...words: string[]) {
    const { code, bytes, err } = await runProgramWith(input, words);
    return { code, out: String(bytes), err };
  }

  /** Returns a copy of the storage, and the messages. */
  async function backup(): Promise<{ bytes: Buffer; err: string }> {
    const { code, bytes, err } = await runProgramWith('', ['backup']);
    if (code !== 0) throw new Error(err);
    return { bytes, err };
  }

  /**
   * Returns the lines that a command prints. Repeats it while a busy machine takes longer than a call may: one that creates needs
   * an idempotency key. Throws what it wrote if it fails.
   */
  async function run(...words: string[]): Promise<string[]> {
    for (;;) {
      const { code, out, err } = await runWith('', ...words);
      if (code === 0) return out.split('\n').slice(0, -1);
      if (!TOO_LATE.test(err)) throw new Error(err);
    }
  }

  return { catalogue: createCatalogue(storage.pets), time, run, runWith, backup };
}

/** A stream that keeps what is written to it. */
const outputOf = (isTTY: boolean) => Object.assign(new PassThrough({ highWaterMark: 2 ** 30 }), { isTTY });

import { createHash, randomBytes } from 'node:crypto';
import { Readable, Writable } from 'node:stream';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import { createCatalogue, createKeyring } from '@animal-store/domain';
import type { Ports } from '@animal-store/domain/ports';
import type { Context, MovableStorage } from '../src/context.ts';
import { createProgram } from '../src/program.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');

/** Christmas Eve of 2026. */
const NOW = Date.UTC(2026, 11, 24);

/** What a command wrote, and the error that it ended with. */
export interface Ended {
  readonly out: string;
  readonly err: string;
  readonly error: Error | null;
}

interface Options {
  readonly isTTY?: boolean;
  readonly storage?: Ports;
  /** What `copy` reads and fills. */
  readonly ends?: { readonly source: MovableStorage; readonly target: MovableStorage };
}

/** The command line in this process, by default on a memory of its own. */
export function commandLine({ isTTY = false, storage = createMemoryStorage(), ends }: Options = {}) {
  const time = { now: NOW };
  const clock = () => time.now;
  const catalogue = createCatalogue(storage.pets);
  const keyring = createKeyring({ keys: storage.keys, digest, randomBytes, clock });

  async function runWith(input: string | Buffer | Readable, ...words: string[]): Promise<Ended> {
    const [stdout, stderr] = [outputOf(isTTY), outputOf(isTTY)];
    const context: Context = {
      withStorage: (work) => work({ catalogue, keyring }),
      async withTarget(_, work) {
        if (ends === undefined) throw new Error('nothing to copy');
        return work(ends.source, ends.target);
      },
      words,
      stdin: input instanceof Readable ? input : Readable.from([Buffer.from(input)]),
      stdout: stdout.stream,
      stderr: stderr.stream,
      clock,
    };
    let error: Error | null = null;
    try {
      await createProgram(context, '1.2.3', 'STORAGE').parseAsync(words, { from: 'user' });
    } catch (thrown) {
      error = thrown as Error;
    }
    return { out: stdout.chunks.join(''), err: stderr.chunks.join(''), error };
  }

  /** The lines that a command prints. Rejects with the error that it ends with. */
  async function run(...words: string[]): Promise<string[]> {
    const { out, error } = await runWith('', ...words);
    if (error !== null) throw error;
    return out.split('\n').slice(0, -1);
  }

  return { catalogue, time, run, runWith };
}

/** A stream, and what was written to it. */
function outputOf(isTTY: boolean) {
  const chunks: string[] = [];
  const write = (chunk: Buffer, _: string, done: () => void) => {
    chunks.push(String(chunk));
    done();
  };
  return { stream: Object.assign(new Writable({ write }), { isTTY }), chunks };
}

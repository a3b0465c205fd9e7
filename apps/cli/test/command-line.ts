import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import { type Catalogue, createCatalogue, createKeyring } from '@animal-store/domain';
import type { PetStore } from '@animal-store/domain/ports';
import { type Authenticate, createAuthentication, createAwaitableCatalogue } from '@animal-store/domain/transport';
import { CommanderError } from 'commander';
import type { Context } from '../src/context.ts';
import { runProgram } from '../src/program.ts';
import { RecordingOutput } from './recording-output.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');

/** Christmas Eve of 2026. */
const clock = () => Date.UTC(2026, 11, 24);

/** A rejected command line; the message is what the user reads. */
export class UsageError extends Error {}

/** The output of a command that has ended. */
export interface Ended {
  readonly out: string;
  readonly err: string;
  readonly error: Error | null;
}

export interface CommandLine {
  readonly catalogue: Catalogue;
  readonly authenticate: Authenticate;
  /** The lines that a command prints. Rejects with the error that the command ends with. */
  run(...words: string[]): Promise<string[]>;
  /** Runs a command with a standard input. */
  runWith(stdin: string | Buffer, ...words: string[]): Promise<Ended>;
}

export interface Options {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly onList?: (pets: PetStore) => void;
  readonly onAdd?: () => void;
  /** Called when a command begins to listen to signals. */
  readonly onStop?: Context['onStop'];
}

/** The command line in this process, on a memory of its own. */
export function commandLine({
  isTTY = false,
  columns = 80,
  onList = () => {},
  onAdd = () => {},
  onStop = () => {},
}: Options = {}): CommandLine {
  const { pets, keys } = createMemoryStorage();
  const petStore: PetStore = {
    ...pets,
    add(...pet) {
      onAdd();
      return pets.add(...pet);
    },
    list(selection) {
      onList(pets);
      return pets.list(selection);
    },
  };
  const catalogue = createCatalogue(petStore);
  const useCases = {
    catalogue: createAwaitableCatalogue(petStore),
    keyring: createKeyring({ keys, digest, randomBytes, clock }),
  };

  async function runWith(input: string | Buffer, ...words: string[]): Promise<Ended> {
    const [stdout, stderr] = [new RecordingOutput({ isTTY, columns }), new RecordingOutput({ isTTY, columns })];
    const stdin = new Input(input, isTTY);
    const context: Context = {
      version: '1.2.3',
      storageChoices: 'STORAGE',
      withStorage: (work) => work(useCases),
      onStop,
      ...{ stdout, stderr, stdin, clock },
    };
    const error = await runProgram(context, words).then(
      () => null,
      (reason: Error) => reason,
    );
    const isHelp = error instanceof CommanderError && error.exitCode === 0;
    return { out: stdout.text, err: stderr.text, error: isHelp ? null : error };
  }

  return {
    catalogue,
    authenticate: createAuthentication({ configuredKeys: new Map(), issuedKeys: keys, digest, clock }),
    runWith,
    async run(...words) {
      const { out, err, error } = await runWith('', ...words);
      if (error !== null) throw error instanceof CommanderError ? new UsageError(err) : error;
      return out.split('\n').slice(0, -1);
    },
  };
}

/** Standard input with a content, from a terminal or not. */
class Input extends Readable {
  readonly isTTY: boolean;

  constructor(content: string | Buffer, isTTY: boolean) {
    super({ read() {} });
    this.isTTY = isTTY;
    if (content.length > 0) this.push(Buffer.from(content));
    this.push(null);
  }
}

import type { TextOutput } from '../context.ts';
import type { Lines } from '../pet-files/read-pets.ts';
import { createProgress, type Progress, progressText } from '../terminal/progress.ts';
import { printable } from '../terminal/text.ts';
import type { InputFile } from './input-file.ts';

interface Options {
  readonly file: Pick<InputFile, 'name' | 'share'>;
  /** The verb in the line of progress. */
  readonly verb: string;
  readonly maxErrors: number;
  readonly stderr: TextOutput;
}

/** Counts the results of the records of a file, shows the progress, and reports rejected records. */
export class Tally {
  /** Pets that did not exist before. */
  imported = 0;
  /** Pets that an earlier import of the same lines created. */
  alreadyImported = 0;
  /** Records with an error. */
  rejected = 0;
  readonly #options: Options;
  readonly #progress: Progress;

  constructor(options: Options) {
    const { file, verb, stderr } = options;
    this.#options = options;
    this.#progress = createProgress(stderr, () => progressText(verb, file.share, this.pets));
  }

  get pets(): number {
    return this.imported + this.alreadyImported;
  }

  /** Whether the limit of rejected records has been reached. */
  get isFull(): boolean {
    return this.rejected >= this.#options.maxErrors;
  }

  /** @param created Whether the pet did not exist before. */
  add(created: boolean): void {
    if (created) this.imported += 1;
    else this.alreadyImported += 1;
  }

  /** Does nothing if it is full. */
  reject({ line, lastLine }: Lines, reason: string): void {
    if (this.isFull) return;
    this.rejected += 1;
    const lines = line === lastLine ? line : `${line}-${lastLine}`;
    this.#progress.print(printable(`${this.#options.file.name}:${lines}: ${reason}`));
  }

  /** Erases the line of progress. */
  end(): void {
    this.#progress.end();
  }
}

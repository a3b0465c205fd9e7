import type { Context } from '../context.ts';
import type { Lines } from '../pet-files/read-pets.ts';
import { createProgress, type Progress } from '../terminal/progress.ts';
import { printable } from '../terminal/text.ts';
import type { InputFile } from './input-file.ts';

interface Options extends Pick<Context, 'stderr' | 'clock'> {
  /** What happens to the pets, for the line of progress. */
  readonly verb: string;
  /** Begins the message of a rejected record. */
  readonly fileName: string;
  readonly file: Pick<InputFile, 'share'>;
  readonly maxErrors: number;
}

/** Counts what has become of the records of a file, shows the progress, and reports rejected records. */
export class Tally {
  /** Pets that did not exist before. */
  imported = 0;
  /** Pets that an earlier import of the same lines created. */
  alreadyImported = 0;
  /** Records with an error. */
  rejected = 0;
  readonly #maxErrors: number;
  readonly #fileName: string;
  readonly #progress: Progress;

  constructor({ verb, fileName, file, maxErrors, stderr, clock }: Options) {
    this.#maxErrors = maxErrors;
    this.#fileName = fileName;
    const position = () => ({ share: file.share, pets: this.pets });
    this.#progress = createProgress(stderr, verb, position, { clock });
  }

  get pets(): number {
    return this.imported + this.alreadyImported;
  }

  /** Whether so many records were rejected that nothing more is to be done. */
  get isFull(): boolean {
    return this.rejected >= this.#maxErrors;
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
    this.#progress.print(printable(`${this.#fileName}:${lines}: ${reason}`));
  }

  /** Erases the line of progress. */
  end(): void {
    this.#progress.end();
  }
}

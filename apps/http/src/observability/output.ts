import sonicBoom from 'sonic-boom';

/** How long a line may wait for others, in milliseconds, and how many bytes are written together or kept. */
const BUFFER = { periodicFlush: 200, minLength: 32 * 1024, maxWrite: 64 * 1024, maxLength: 8 * 1024 * 1024 };

/** How long the last lines may take to be written, in milliseconds. */
const CLOSE_TIMEOUT = 1_000;

/** Where a log is written. */
export interface Output {
  write(text: string): void;
  /** Begins to write what waits for more. */
  flush(): void;
  /** How many texts were dropped since the start. */
  dropped(): number;
  /**
   * Writes the rest.
   *
   * @returns Whether that ended, well or not, within a second. Otherwise a write still waits for the reader.
   */
  close(): Promise<boolean>;
}

/** Standard output. A reader that is slow or gone, or a full disk, neither delays nor ends the process: texts are dropped. */
export function standardOutput(): Output {
  let dropped = 0;
  let isClosed = false;
  // What pino.destination returns flushes at the exit, and so waits for a reader that does not read.
  const output = new sonicBoom.SonicBoom({ fd: 1, sync: false, contentMode: 'buffer', ...BUFFER });
  output.on('drop', () => {
    dropped += 1;
  });
  // Without a listener an error would end the process. A full disk may have space again; a closed pipe gets no other reader.
  output.on('error', ({ code }: NodeJS.ErrnoException) => {
    isClosed ||= code === 'EPIPE';
  });
  return {
    write(text) {
      if (isClosed) dropped += 1;
      // As a string, sonic-boom would measure all waiting lines again for each line. Its types know strings only.
      else output.write(Buffer.from(text) as unknown as string);
    },
    flush: () => output.flush(),
    dropped: () => dropped,
    close() {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      isClosed = true;
      // Not flush, whose callback comes after a write that has begun already.
      for (const event of ['close', 'error']) output.once(event, () => resolve(true));
      output.end();
      setTimeout(resolve, CLOSE_TIMEOUT, false).unref();
      return promise;
    },
  };
}

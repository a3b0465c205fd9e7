/** Tells a person what is going on, on standard error. */
export interface Progress {
  /** Replaces the line before it; only on a terminal. */
  show(text: string): void;
  warn(text: string): void;
  /** Removes the line. */
  clear(): void;
}

const CLEAR_LINE = '\r\x1b[2K';

export function createProgress(stream: NodeJS.WriteStream): Progress {
  const clear = () => {
    if (stream.isTTY) stream.write(CLEAR_LINE);
  };
  return {
    show(text) {
      if (stream.isTTY) stream.write(CLEAR_LINE + text.slice(0, stream.columns - 1));
    },
    warn(text) {
      clear();
      stream.write(`${text}\n`);
    },
    clear,
  };
}

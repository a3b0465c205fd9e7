/** Lines that are written together. */
export interface LineBuffer {
  /** @param line With its line feed. */
  add(line: string): void;
  /** Writes what was collected, now. */
  flush(): void;
}

/**
 * Collects lines and hands on many at once: sonic-boom, to which they go, copies all that waits with every line it is given.
 *
 * @param most How much is collected, in UTF-16 code units.
 * @param interval How long a line may wait, in milliseconds.
 */
export function createLineBuffer(
  write: (text: string) => void,
  { most, interval }: { most: number; interval: number },
): LineBuffer {
  let collected = '';
  let waiting: NodeJS.Timeout | null = null;

  function flush(): void {
    if (waiting !== null) clearTimeout(waiting);
    waiting = null;
    if (collected === '') return;
    const text = collected;
    collected = '';
    write(text);
  }

  return {
    add(line) {
      collected += line;
      if (collected.length >= most) flush();
      else waiting ??= setTimeout(flush, interval);
    },
    flush,
  };
}

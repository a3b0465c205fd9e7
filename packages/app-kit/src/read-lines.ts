/** A line without its line feed. */
export interface Line {
  /** Cut off somewhere after the most bytes. */
  readonly bytes: Buffer;
  /** From 1. */
  readonly number: number;
}

/**
 * Reads lines in memory that does not grow with their length. node:readline also ends lines at U+2028, which JSON may contain.
 *
 * @param maxBytes The length from which a line may be cut off.
 */
export async function* readLines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Line> {
  let rest = Buffer.alloc(0);
  let number = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
      number += 1;
      yield { bytes: Buffer.concat([rest, chunk.subarray(start, end)]), number };
      rest = Buffer.alloc(0);
      start = end + 1;
    }
    rest = Buffer.concat([rest.subarray(0, maxBytes + 1), chunk.subarray(start)]);
  }
  if (rest.length > 0) yield { bytes: rest, number: number + 1 };
}

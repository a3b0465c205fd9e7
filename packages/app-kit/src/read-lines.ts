/**
 * Reads lines, without their line feeds, in memory that does not grow with their length. node:readline also ends lines at
 * U+2028, which JSON may contain.
 *
 * @param maxBytes A longer line may lack its end, somewhere after so many bytes.
 */
export async function* readLines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  // Without its end a line of JSON is no JSON. Without its middle it may be another message.
  const longer = (bytes: Buffer) => (rest.length > maxBytes ? rest : Buffer.concat([rest, bytes]));
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
      yield longer(chunk.subarray(start, end));
      rest = Buffer.alloc(0);
      start = end + 1;
    }
    rest = longer(chunk.subarray(start));
  }
  if (rest.length > 0) yield rest;
}

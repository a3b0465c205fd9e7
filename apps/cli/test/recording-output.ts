import { Writable } from 'node:stream';

/** An output that keeps what was written to it. */
export interface RecordingOutput extends Writable {
  readonly isTTY: boolean;
  readonly text: string;
}

export function recordingOutput({ isTTY = false }: { isTTY?: boolean } = {}): RecordingOutput {
  const chunks: Buffer[] = [];
  const output = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return Object.defineProperties(output, {
    isTTY: { value: isTTY },
    text: { get: () => Buffer.concat(chunks).toString() },
  }) as RecordingOutput;
}

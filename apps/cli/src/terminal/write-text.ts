import { once } from 'node:events';
import type { TextOutput } from '../context.ts';

/** Writes a text, and waits while the reader is slower. */
export async function writeText(output: TextOutput, text: string): Promise<void> {
  if (!output.write(text)) await once(output, 'drain');
}

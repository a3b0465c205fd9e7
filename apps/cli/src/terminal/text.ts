import { once } from 'node:events';
import type { TextOutput } from '../context.ts';

/** Control characters, line separators, and marks that change the direction of the text after them. */
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** A text on one line that a terminal shows as it is: characters that could control the terminal are escaped. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Writes a text, and waits while the reader is slower. */
export async function writeText(output: TextOutput, text: string): Promise<void> {
  if (!output.write(text)) await once(output, 'drain');
}

/** Writes a message to the user on one line. */
export function writeMessage(stderr: TextOutput, message: string): void {
  stderr.write(`animal-store: ${printable(message)}\n`);
}

import { LIMITS } from '@animal-store/domain';

/** The layout of the bytes below, so that a later one can be told apart. */
const VERSION = 1;

/** A version byte and an id in eight make twelve characters, without padding. */
const TEXT = /^[\w-]{12}$/;

// One for all: making a Buffer costs more than all the rest.
const bytes = Buffer.alloc(9, VERSION);

/** An opaque name, fit for a URL, for the place in the list behind an animal. */
export function cursorAfter(id: bigint): string {
  bytes.writeBigInt64BE(id, 1);
  return bytes.toString('base64url');
}

/** The id of the animal that a cursor stands behind; null where the text is no cursor. */
export function readCursor(text: string): bigint | null {
  if (!TEXT.test(text)) return null;
  const given = Buffer.from(text, 'base64url');
  const id = given.readBigInt64BE(1);
  return given[0] === VERSION && id >= LIMITS.id.min ? id : null;
}

import { PET_ID_MIN } from '@animal-store/domain';

/** The layout of the bytes below, so that a later one can be told apart. */
const VERSION = 1;

/** A version byte and an id in eight make twelve characters, without padding. */
const TEXT = /^[\w-]{12}$/;

/** An opaque name, fit for a URL, for the place in the list behind an animal. */
export function cursorAfter(id: bigint): string {
  const bytes = Buffer.alloc(9, VERSION);
  bytes.writeBigInt64BE(id, 1);
  return bytes.toString('base64url');
}

/** The id of the animal that a cursor stands behind; null where the text is no cursor. */
export function readCursor(text: string): bigint | null {
  if (!TEXT.test(text)) return null;
  const bytes = Buffer.from(text, 'base64url');
  const id = bytes.readBigInt64BE(1);
  return bytes[0] === VERSION && id >= PET_ID_MIN ? id : null;
}

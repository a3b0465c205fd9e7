import { LIMITS } from '@animal-store/domain';

/** The version of the layout of the bytes below. */
const VERSION = 1;

/** A version byte and an id in eight make twelve characters, without padding. */
export const CURSOR_PATTERN = /^[A-Za-z0-9_-]{12}$/;

// One for all calls: allocating a Buffer costs more than the rest.
const bytes = Buffer.alloc(9, VERSION);

/** The cursor of the page that begins after a pet: base64url text. */
export function cursorAfter(id: bigint): string {
  bytes.writeBigInt64BE(id, 1);
  return bytes.toString('base64url');
}

/** The id of the pet after which the page of a cursor begins; null if the text is no cursor. */
export function readCursor(text: string): bigint | null {
  if (!CURSOR_PATTERN.test(text)) return null;
  const given = Buffer.from(text, 'base64url');
  const id = given.readBigInt64BE(1);
  return given[0] === VERSION && id >= LIMITS.id.min ? id : null;
}

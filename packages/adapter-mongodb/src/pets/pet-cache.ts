import type { Pet } from '@animal-store/domain';
import { BSON } from 'mongodb';
import { type PetDocument, petOf } from './pet-document.ts';

/** The first element of a stored pet: the type int64 and the name `_id` (https://bsonspec.org/spec.html). */
const ID = Buffer.from('\x12_id\0', 'latin1');
const ID_AT = 4;
const VALUE_AT = ID_AT + ID.length;

/** What an entry takes in memory beside the bytes of its document, measured. */
const ENTRY_BYTES = 350;

interface Entry {
  readonly bytes: Buffer;
  readonly pet: Pet;
}

/**
 * Decodes pets, and returns the same object again as long as the document has the same bytes. It caches no results of
 * queries: every document it is given is in a response of the server.
 *
 * @param maxBytes How much memory the cached pets may take, roughly.
 * @returns The pet in a document.
 */
export function createPetCache(maxBytes: number): (document: Buffer) => Pet {
  // Pets in use are in the recent half. When it is full, it becomes the older half, and the former older half is dropped.
  let recent = new Map<number, Entry>();
  let older = new Map<number, Entry>();
  let recentBytes = 0;

  function keep(id: number, entry: Entry): void {
    recent.set(id, entry);
    recentBytes += entry.bytes.length + ENTRY_BYTES;
    if (recentBytes <= maxBytes / 2) return;
    older = recent;
    recent = new Map();
    recentBytes = 0;
  }

  return (document) => {
    if (ID.compare(document, ID_AT, VALUE_AT) !== 0) return decoded(document);
    // Above 2^53 two ids may share a place; their bytes differ.
    const id = document.readUInt32LE(VALUE_AT) + document.readUInt32LE(VALUE_AT + 4) * 2 ** 32;
    const known = recent.get(id);
    if (known?.bytes.equals(document)) return known.pet;
    const old = older.get(id);
    const entry = old?.bytes.equals(document) ? old : { bytes: copied(document), pet: decoded(document) };
    keep(id, entry);
    return entry.pet;
  };
}

/** With memory of its own: a slice of Node's pool would keep 64 KiB of it alive, one of a response the whole response. */
function copied(document: Buffer): Buffer {
  const bytes = Buffer.allocUnsafeSlow(document.length);
  document.copy(bytes);
  return bytes;
}

function decoded(document: Buffer): Pet {
  return petOf(BSON.deserialize(document, { useBigInt64: true }) as PetDocument);
}

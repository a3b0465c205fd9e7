import type { Limits } from '@animal-store/adapter-kit';
import { type ApiKey, LIMITS, type Pet, type PetStatus } from '@animal-store/domain';
import type { StoredPet } from '@animal-store/domain/ports';
import { BSON, type ClientSession, type Db, type Document, type UUID } from 'mongodb';
import { mayBeRepeated } from './failures.ts';
import { operationTime } from './limits.ts';

/**
 * A pet as it is stored: one write stores it with its idempotency key, or neither. A bigint is an int64; one outside its range
 * would be cut to 64 bits silently.
 */
export interface PetDocument extends Omit<StoredPet, 'id' | 'createdAt'> {
  readonly _id: bigint;
  readonly createdAt: Date;
}

export type NewDocument = Omit<PetDocument, '_id' | 'createdAt'>;

/** The record of an API key as it is stored. */
export interface KeyDocument extends Omit<ApiKey, 'id' | 'createdAt' | 'expiresAt' | 'revokedAt' | 'lastUsedAt'> {
  readonly _id: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
}

/** A stored time as the ports have it. The driver reads none beyond the range of a Date, nor its sign: it is the farthest one. */
export function timeOf(date: Date): number {
  const time = date.getTime();
  return Number.isNaN(time) ? LIMITS.time.max : time;
}

/** Reads the bytes of at most `limit` documents of a collection. */
export type Query = (limit: number, options: Document, limits: Limits, session?: ClientSession) => Promise<Buffer[]>;

/** @param collectionUUID The server rejects a query if the collection is another one, or missing, instead of finding nothing. */
export function createQuery(db: Db, name: 'pets' | 'api_keys', collectionUUID: UUID | undefined): Query {
  const command = { find: name, collectionUUID, singleBatch: true };
  return (limit, options, limits, session) =>
    readDocuments(db, { ...command, ...options, limit, batchSize: limit }, limits, session);
}

/**
 * Reads documents that the majority has from the primary, without decoding them.
 *
 * @param command Returns a cursor whose documents fit into its first batch.
 * @returns The bytes of each document: views of the response.
 */
export async function readDocuments(
  db: Db,
  command: Document,
  limits: Limits,
  session?: ClientSession,
): Promise<Buffer[]> {
  // A cursor with `raw` passes errors on undecoded, and the driver fails if one has the server's topologyVersion.
  const options = {
    fieldsAsRaw: { firstBatch: true },
    readPreference: 'primary',
    ...(session && { session }),
  } as const;
  return repeated(async () => {
    const bounded = { ...command, readConcern: { level: 'majority' }, maxTimeMS: operationTime(limits) };
    return (await db.command(bounded, options))['cursor'].firstBatch;
  });
}

/** Reads again if that may help. The driver does not repeat a `command`. */
export async function repeated<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (failure) {
    if (!mayBeRepeated(failure)) throw failure;
    return read();
  }
}

// The types of members (https://bsonspec.org/spec.html). The schema allows no others.
const STRING = 0x02;
const DOCUMENT = 0x03;
const DATE = 0x09;
const INT64 = 0x12;

export function petOf({ _id: id, name, categoryId, status }: PetDocument): Pet {
  return status === undefined ? { id, name, categoryId } : ({ id, name, categoryId, status } satisfies Required<Pet>);
}

export const decodeDocument = <D = PetDocument>(document: Buffer) =>
  BSON.deserialize(document, { useBigInt64: true }) as D;

/** The pet in the bytes of a stored document, whose members may have any order. It takes half as long as decoding all of it. */
export function decodePet(document: Buffer): Pet {
  let id = 0n;
  let name = '';
  let categoryId = 0n;
  let status: PetStatus | undefined;
  // A member is a byte for the type, a name that a zero byte ends, and a value. A zero byte ends the members.
  for (let at = 4; document[at] !== 0; ) {
    const type = document[at];
    const begin = document.indexOf(0, at) + 1;
    const member = document.toString('latin1', at + 1, begin - 1);
    at = begin + sizeOf(type, document, begin);
    // A string has its size before it and a zero byte behind it.
    if (member === '_id') id = int64Of(document, begin);
    else if (member === 'name') name = document.toString('utf8', begin + 4, at - 1);
    else if (member === 'categoryId') categoryId = int64Of(document, begin);
    else if (member === 'status') status = document.toString('latin1', begin + 4, at - 1) as PetStatus;
  }
  return status === undefined ? { id, name, categoryId } : ({ id, name, categoryId, status } satisfies Required<Pet>);
}

function sizeOf(type: number | undefined, document: Buffer, begin: number): number {
  if (type === INT64 || type === DATE) return 8;
  if (type === STRING) return 4 + document.readInt32LE(begin);
  if (type === DOCUMENT) return document.readInt32LE(begin);
  throw new TypeError(`a stored pet has a member of the type ${type}`);
}

function int64Of(document: Buffer, begin: number): bigint {
  const high = document.readInt32LE(begin + 4);
  // A double holds it: that takes a third of the time.
  if (high >= 0 && high < 2 ** 20) return BigInt(high * 2 ** 32 + document.readUInt32LE(begin));
  return document.readBigInt64LE(begin);
}

/** The bytes of the values of a document or an array, all of which are documents or arrays. */
export function valuesOf(document: Buffer): Buffer[] {
  const values: Buffer[] = [];
  for (let at = 4; document[at] !== 0; ) {
    const begin = document.indexOf(0, at + 1) + 1;
    at = begin + document.readInt32LE(begin);
    values.push(document.subarray(begin, at));
  }
  return values;
}

import type { Collection, CollectionOptions, Db, Document, IndexDescription } from 'mongodb';
import { MongoServerError } from 'mongodb';
import { COUNTER_SCHEMA, type CounterDocument } from './counter-document.ts';
import { KEY_INDEXES, KEY_SCHEMA, type KeyDocument } from './key-document.ts';
import { PET_INDEXES, PET_SCHEMA, type PetDocument } from './pet-document.ts';
import { RATE_INDEXES, RATE_SCHEMA, type RateDocument } from './rate-document.ts';
import type { TimeLimits } from './time-limits.ts';

/** What a collection accepts, as the server checks it. */
export interface Schema {
  /** To be raised with every change: a process replaces only a schema that is older than its own. */
  readonly version: number;
  readonly properties: Document;
  readonly required: readonly string[];
}

/** The collections of a database, with the concerns that every operation on them has. */
export interface Collections {
  readonly db: Db;
  readonly pets: Collection<PetDocument>;
  readonly keys: Collection<KeyDocument>;
  readonly counters: Collection<CounterDocument>;
  readonly rates: Collection<RateDocument>;
}

/** Names are part of what is stored: see docs/storage-mongodb.md. */
export function collectionsOf(db: Db, limits: TimeLimits): Collections {
  const options: CollectionOptions = {
    // What was acknowledged survives every failover, and nothing is shown that would not.
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: limits.operation },
    readConcern: { level: 'majority' },
  };
  return {
    db,
    pets: db.collection<PetDocument>('pets', options),
    keys: db.collection<KeyDocument>('api_keys', options),
    counters: db.collection<CounterDocument>('counters', options),
    rates: db.collection<RateDocument>('rates', options),
  };
}

/** Makes collections, schemas and indexes what they must be. May run any number of times, in many processes at once. */
export async function prepareCollections({ db, pets, keys, counters, rates }: Collections): Promise<void> {
  await Promise.all([
    prepare(db, pets.collectionName, PET_SCHEMA, PET_INDEXES),
    prepare(db, keys.collectionName, KEY_SCHEMA, KEY_INDEXES),
    prepare(db, counters.collectionName, COUNTER_SCHEMA, []),
    prepare(db, rates.collectionName, RATE_SCHEMA, RATE_INDEXES),
  ]);
}

/** Is answered by a primary that the majority has just followed: it can be written, too. */
export async function readLinearizable({ counters }: Collections, limits: TimeLimits): Promise<void> {
  await counters.findOne({ _id: 'pets' }, { readConcern: { level: 'linearizable' }, maxTimeMS: limits.operation });
}

const NAMESPACE_EXISTS = 48;
const MAJORITY = { writeConcern: { w: 'majority' } } as const;

async function prepare(db: Db, name: string, schema: Schema, indexes: IndexDescription[]): Promise<void> {
  if ((await storedVersion(db, name)) === null) {
    try {
      await db.createCollection(name, { validator: validator(schema), ...MAJORITY });
    } catch (failure) {
      // Another process was faster, perhaps one with an older schema.
      if (!(failure instanceof MongoServerError && failure.code === NAMESPACE_EXISTS)) throw failure;
    }
  }
  if (((await storedVersion(db, name)) ?? 0) < schema.version) {
    await db.command({ collMod: name, validator: validator(schema), ...MAJORITY });
  }
  if (indexes.length > 0) await db.collection(name).createIndexes(indexes, { commitQuorum: 'majority', ...MAJORITY });
}

function validator({ version, properties, required }: Schema): Document {
  const title = `version ${version}`;
  return { $jsonSchema: { title, bsonType: 'object', required, additionalProperties: false, properties } };
}

/** The version of the schema that the collection has: 0 where it has none of ours, null where there is no collection. */
async function storedVersion(db: Db, name: string): Promise<number | null> {
  const [collection] = await db.listCollections({ name }).toArray();
  if (collection === undefined) return null;
  const title: unknown = (collection as { options?: Document }).options?.['validator']?.$jsonSchema?.title;
  return Number(/^version (\d+)$/.exec(String(title))?.[1] ?? 0);
}

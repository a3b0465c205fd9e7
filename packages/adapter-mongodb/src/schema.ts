import { checkFormat, StorageMisconfigured } from '@animal-store/domain/ports';
import type { Db, Document, IndexDescription, UUID } from 'mongodb';
import type { KeyDocument, PetDocument } from './documents.ts';
import { isDenied, isDuplicateKey, isExisting } from './failures.ts';

/** The format that this version creates and works with, stored in the titles of the schemas (docs/releasing.md). */
export const FORMAT = 1;

/** The index of pages by status. Pages of all pets and single pets are served by that of `_id`. */
export const BY_STATUS = { status: 1, _id: 1 } as const;

/** A character that is not white space, for the server (PCRE): `\v` is any vertical white space there, and `\u` nothing. */
const NOT_BLANK =
  '[^\\t\\n\\x0b\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}]';

/** The largest integer that JavaScript reads exactly. */
const MAX_ID = 9_007_199_254_740_991n;

const string = { bsonType: 'string' };
const date = { bsonType: 'date' };
const dateOrNull = { bsonType: ['date', 'null'] };

/** An object with these members and no others. All are required except the optional ones. */
const object = (properties: Document, optional: object = {}) => ({
  bsonType: 'object',
  required: Object.keys(properties).filter((member) => !(member in optional)),
  additionalProperties: false,
  properties,
});

/** The members that a stored pet may lack. */
const OPTIONAL = { status: true, idempotency: true } satisfies Record<OptionalMember<PetDocument>, true>;

type OptionalMember<T> = { [Member in keyof T]-?: undefined extends T[Member] ? Member : never }[keyof T];

/**
 * Schemas by the names of collections: the rules of the domain as far as the server can check them; it counts code points, too.
 * The values are those of the format, whatever the domain's limits are: another value is another format.
 */
export const SCHEMAS: Readonly<Record<string, Document>> = {
  pets: object(
    {
      _id: { bsonType: 'long', minimum: 1n, maximum: MAX_ID },
      name: { bsonType: 'string', maxLength: 200, pattern: NOT_BLANK },
      categoryId: { bsonType: 'long' },
      status: { enum: ['available', 'pending', 'sold'] },
      // For removing idempotency keys by age. Only the command copy reads it.
      createdAt: date,
      idempotency: object({
        holder: string,
        // In PCRE `$` also matches before a line feed at the end: this rejects it.
        key: { bsonType: 'string', maxLength: 255, pattern: '^[\\x21-\\x7e]{1,255}$(?!\\n)' },
        fingerprint: string,
      }),
    } satisfies Record<keyof PetDocument, Document>,
    OPTIONAL,
  ),
  api_keys: object({
    _id: string,
    // No `$`: it would also match before a line feed. maxLength ends it.
    digest: { bsonType: 'string', minLength: 64, maxLength: 64, pattern: '^[0-9a-f]{64}' },
    visiblePrefix: string,
    holder: string,
    createdAt: date,
    expiresAt: dateOrNull,
    revokedAt: dateOrNull,
    lastUsedAt: dateOrNull,
  } satisfies Record<keyof KeyDocument, Document>),
  // The server rejects a reservation beyond the largest id.
  counters: object({ _id: string, last: { bsonType: 'long', minimum: 0n, maximum: MAX_ID } }),
};

/** The indexes of `pets` leave out the pets that their queries never look for. */
export const INDEXES: Readonly<Record<string, readonly IndexDescription[]>> = {
  pets: [
    { key: BY_STATUS, partialFilterExpression: { status: { $exists: true } } },
    {
      key: { 'idempotency.holder': 1, 'idempotency.key': 1 },
      unique: true,
      partialFilterExpression: { 'idempotency.key': { $exists: true } },
    },
  ],
  api_keys: [{ key: { digest: 1 }, unique: true }],
};

const NAMES = Object.keys(SCHEMAS);

/** Without the time limit of calls. */
const MAJORITY = { writeConcern: { w: 'majority' } } as const;

/** The UUIDs of the collections by their names. A collection that is dropped and restored has another one. */
export type CollectionIds = ReadonlyMap<string, UUID>;

/**
 * Creates collections and indexes that are missing. May run any number of times, in many processes at once.
 *
 * @throws StorageMisconfigured if a collection has another format, or was lost while others have data.
 */
export async function prepareCollections(db: Db): Promise<CollectionIds> {
  const stored = await readCollections(db);
  const missing = NAMES.filter((name) => !stored.has(name));
  if (missing.length > 0) {
    const documents = await Promise.all([...stored.keys()].map((name) => db.collection(name).findOne()));
    // No process writes before all exist. So a document shows that all did, and what is missing in the next reading was lost.
    if (documents.some((document) => document !== null)) requireAll(await readCollections(db));
    await Promise.all(missing.map((name) => create(db, name)));
    return prepareCollections(db);
  }
  // One after the other: opening a second connection takes longer than waiting for a response on the first.
  for (const [name, indexes] of Object.entries(INDEXES)) await createIndexes(db, name, indexes);
  return stored;
}

/** Throws StorageMisconfigured if a collection is missing. */
export function requireAll(stored: CollectionIds): void {
  const missing = NAMES.find((name) => !stored.has(name));
  if (missing !== undefined)
    throw new StorageMisconfigured(`the collection ${missing} is missing: restore the database`);
}

/** Reads which collections exist. Throws StorageMisconfigured if one of them has another format, or no schema. */
export async function readCollections(db: Db): Promise<CollectionIds> {
  const stored: Document[] = await db.listCollections({ name: { $in: NAMES } }).toArray();
  return new Map(
    stored.map(({ name, options, info }) => {
      const { validator, validationLevel, validationAction } = options;
      const [, format] = /^format (\d+)$/.exec(validator?.$jsonSchema?.title) ?? [];
      if (format === undefined || validationLevel === 'off' || validationAction === 'warn') {
        throw new StorageMisconfigured(
          `the collection ${name} has no schema of Animal Store: restore it, or name another database`,
        );
      }
      checkFormat(`the collection ${name}`, Number(format), FORMAT);
      return [name, info.uuid] as const;
    }),
  );
}

async function create(db: Db, name: string): Promise<void> {
  const $jsonSchema = { title: `format ${FORMAT}`, ...SCHEMAS[name] };
  try {
    await db.createCollection(name, { validator: { $jsonSchema }, ...MAJORITY });
  } catch (failure) {
    if (!isExisting(failure)) throw failure;
  }
}

async function createIndexes(db: Db, name: string, indexes: readonly IndexDescription[]): Promise<void> {
  try {
    await db.collection(name).createIndexes([...indexes], { commitQuorum: 'majority', ...MAJORITY });
  } catch (failure) {
    // A user who may only read needs none: writes check them.
    if (isDenied(failure)) return;
    // The server's message quotes the key.
    if (!isDuplicateKey(failure)) throw failure;
    const shared = name === 'pets' ? 'pets share an idempotency key' : 'API keys share a digest';
    throw new StorageMisconfigured(`${shared}, so that its index can't be created: remove all but one`);
  }
}

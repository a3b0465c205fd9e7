import { LIMITS, PET_STATUSES } from '@animal-store/domain';
import { checkFormat, StorageMisconfigured } from '@animal-store/domain/ports';
import { type Db, type Document, type IndexDescription, MongoServerError } from 'mongodb';

/** The format that this version creates and works with, stored in the titles of the schemas (docs/releasing.md). */
const FORMAT = 1;

/** The index of pages by status. Pages of all pets and single pets are served by that of `_id`. */
export const BY_STATUS = { status: 1, _id: 1 } as const;

/** The order of the list of all keys; two of the same time stand in the order of their ids. */
export const BY_AGE = { createdAt: 1, _id: 1 } as const;

/** The domain's pattern as the server's regular expressions (PCRE) spell it: their `\v` is a class. */
const NAME_PATTERN_OF_SERVER = LIMITS.name.pattern.source
  .replace('\\v', '\\x0b')
  .replaceAll(/\\u0*([\da-f]+)/g, '\\x{$1}');

const string = { bsonType: 'string' };
const date = { bsonType: 'date' };
const dateOrNull = { bsonType: ['date', 'null'] };

/** Collections by their names. The server checks the rules of the domain as far as it can; it counts code points, too. */
const COLLECTIONS: Readonly<Record<string, { required: string[]; properties: Document; indexes: IndexDescription[] }>> =
  {
    pets: {
      required: ['_id', 'name', 'categoryId', 'createdAt'],
      properties: {
        _id: { bsonType: 'long', minimum: LIMITS.id.min, maximum: LIMITS.id.maxAssigned },
        name: { bsonType: 'string', maxLength: LIMITS.name.maxLength, pattern: NAME_PATTERN_OF_SERVER },
        categoryId: { bsonType: 'long' },
        status: { enum: [...PET_STATUSES] },
        // For removing idempotency keys by age. The service never reads it.
        createdAt: date,
        idempotency: {
          bsonType: 'object',
          required: ['holder', 'key', 'fingerprint'],
          additionalProperties: false,
          properties: {
            holder: string,
            // In the server's patterns `$` also matches before a line feed at the end.
            key: {
              bsonType: 'string',
              maxLength: LIMITS.idempotencyKey.maxLength,
              pattern: `${LIMITS.idempotencyKey.pattern.source}(?!\\n)`,
            },
            fingerprint: string,
          },
        },
      },
      // Both leave out the pets that their queries never look for.
      indexes: [
        { key: BY_STATUS, partialFilterExpression: { status: { $exists: true } } },
        {
          key: { 'idempotency.holder': 1, 'idempotency.key': 1 },
          unique: true,
          partialFilterExpression: { 'idempotency.key': { $exists: true } },
        },
      ],
    },
    api_keys: {
      required: ['_id', 'digest', 'visiblePrefix', 'holder', 'createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt'],
      properties: {
        _id: string,
        digest: { bsonType: 'string', minLength: 64, maxLength: 64, pattern: '^[0-9a-f]{64}' },
        visiblePrefix: string,
        holder: string,
        createdAt: date,
        expiresAt: dateOrNull,
        revokedAt: dateOrNull,
        lastUsedAt: dateOrNull,
      },
      indexes: [{ key: { digest: 1 }, unique: true }, { key: BY_AGE }],
    },
    counters: {
      required: ['_id', 'last'],
      properties: {
        _id: string,
        // The server rejects a reservation beyond the largest id.
        last: { bsonType: 'long', minimum: 0n, maximum: LIMITS.id.maxAssigned },
      },
      indexes: [],
    },
  };

const NAMES = Object.keys(COLLECTIONS);
const NAMESPACE_EXISTS = 48;
const MAJORITY = { writeConcern: { w: 'majority' } } as const;

/**
 * Creates collections and indexes that are missing. May run any number of times, in many processes at once.
 *
 * @throws StorageMisconfigured if a collection has another format.
 */
export async function prepareCollections(db: Db): Promise<void> {
  const stored = await checkFormats(db);
  const missing = NAMES.filter((name) => !stored.includes(name));
  await Promise.all(missing.map((name) => create(db, name)));
  // One after the other: another connection would take longer than a response.
  for (const name of stored) await createIndexes(db, name);
  if (missing.length > 0) await checkFormats(db);
}

/** Returns the names of the collections that exist. Throws StorageMisconfigured if one of them has another format. */
async function checkFormats(db: Db): Promise<string[]> {
  const stored: { name: string; options?: Document }[] = await db.listCollections({ name: { $in: NAMES } }).toArray();
  return stored.map(({ name, options }) => {
    const [, format] = /^format (\d+)$/.exec(options?.['validator']?.$jsonSchema?.title) ?? [];
    if (format === undefined) {
      throw new StorageMisconfigured(`the collection ${name} is of another program: name another database`);
    }
    checkFormat(`the collection ${name}`, Number(format), FORMAT);
    return name;
  });
}

async function create(db: Db, name: string): Promise<void> {
  const { required, properties } = COLLECTIONS[name] as (typeof COLLECTIONS)[string];
  const title = `format ${FORMAT}`;
  const $jsonSchema = { title, bsonType: 'object', required, additionalProperties: false, properties };
  try {
    await db.createCollection(name, { validator: { $jsonSchema }, ...MAJORITY });
  } catch (failure) {
    // Another process has created it.
    if (!(failure instanceof MongoServerError && failure.code === NAMESPACE_EXISTS)) throw failure;
  }
  await createIndexes(db, name);
}

async function createIndexes(db: Db, name: string): Promise<void> {
  const { indexes } = COLLECTIONS[name] as (typeof COLLECTIONS)[string];
  if (indexes.length > 0) await db.collection(name).createIndexes(indexes, { commitQuorum: 'majority', ...MAJORITY });
}

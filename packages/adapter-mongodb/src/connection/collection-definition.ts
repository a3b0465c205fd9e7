import { checkFormat, StorageMisconfigured } from '@animal-store/domain/ports';
import { type Db, type Document, type IndexDescription, MongoServerError } from 'mongodb';

/** The format that this version creates, stored in the titles of the schemas (docs/releasing.md). */
const FORMAT = 1;

/** A collection as it must be. Its name is part of what is stored. */
export interface CollectionDefinition {
  readonly name: string;
  /** The rules that the server checks. */
  readonly schema: { readonly properties: Document; readonly required: readonly string[] };
  readonly indexes: readonly IndexDescription[];
}

const NAMESPACE_EXISTS = 48;
const MAJORITY = { writeConcern: { w: 'majority' } } as const;

/**
 * Creates collections and indexes that are missing. May run any number of times, in many processes at once.
 *
 * @throws StorageMisconfigured if a collection has another format.
 */
export async function prepareCollections(db: Db, definitions: readonly CollectionDefinition[]): Promise<void> {
  const stored = await checkFormats(db, definitions);
  const missing = definitions.filter(({ name }) => !stored.has(name));
  await Promise.all(missing.map((definition) => create(db, definition)));
  if (missing.length > 0) await checkFormats(db, definitions);
  await Promise.all(
    definitions.map(async ({ name, indexes }) => {
      if (indexes.length === 0) return;
      await db.collection(name).createIndexes([...indexes], { commitQuorum: 'majority', ...MAJORITY });
    }),
  );
}

/**
 * Checks the formats of the collections, which a newer version may change at any time.
 *
 * @returns The names of those that exist.
 * @throws StorageMisconfigured if this version can't work with one of them.
 */
export async function checkFormats(db: Db, definitions: readonly CollectionDefinition[]): Promise<ReadonlySet<string>> {
  const names = definitions.map(({ name }) => name);
  const stored = await db.listCollections({ name: { $in: names } }).toArray();
  for (const { name, options } of stored as { name: string; options?: Document }[]) {
    const title: unknown = options?.['validator']?.$jsonSchema?.title;
    const format = Number(/^format (\d+)$/.exec(String(title))?.[1] ?? 0);
    if (format === 0) {
      throw new StorageMisconfigured(
        `the collection ${name} is of another program, or of a version of Animal Store that was never published: name ` +
          'another database',
      );
    }
    checkFormat(`the collection ${name}`, format, FORMAT);
  }
  return new Set(stored.map(({ name }) => name));
}

async function create(db: Db, { name, schema: { properties, required } }: CollectionDefinition): Promise<void> {
  const $jsonSchema = {
    title: `format ${FORMAT}`,
    bsonType: 'object',
    required,
    additionalProperties: false,
    properties,
  };
  try {
    await db.createCollection(name, { validator: { $jsonSchema }, ...MAJORITY });
  } catch (failure) {
    // Another process has created it.
    if (!(failure instanceof MongoServerError && failure.code === NAMESPACE_EXISTS)) throw failure;
  }
}

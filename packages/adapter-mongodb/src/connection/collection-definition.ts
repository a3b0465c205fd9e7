import { type Db, type Document, type IndexDescription, MongoServerError } from 'mongodb';

/** The schema of a collection, which the server checks. */
export interface Schema {
  /** Raised with every change: a process replaces only a schema that is older than its own. */
  readonly version: number;
  readonly properties: Document;
  readonly required: readonly string[];
}

/** A collection as it must be. Its name is part of what is stored. */
export interface CollectionDefinition {
  readonly name: string;
  readonly schema: Schema;
  readonly indexes: readonly IndexDescription[];
}

const NAMESPACE_EXISTS = 48;
const MAJORITY = { writeConcern: { w: 'majority' } } as const;

/** Creates or updates a collection. May run any number of times, in many processes at once. */
export async function prepareCollection(db: Db, { name, schema, indexes }: CollectionDefinition): Promise<void> {
  if ((await storedVersion(db, name)) === null) {
    try {
      await db.createCollection(name, { validator: validator(schema), ...MAJORITY });
    } catch (failure) {
      // Another process has created it, perhaps with an older schema.
      if (!(failure instanceof MongoServerError && failure.code === NAMESPACE_EXISTS)) throw failure;
    }
  }
  if (((await storedVersion(db, name)) ?? 0) < schema.version) {
    await db.command({ collMod: name, validator: validator(schema), ...MAJORITY }).catch(async (failure) => {
      // Another process has replaced the schema, and is building indexes.
      if (((await storedVersion(db, name)) ?? 0) < schema.version) throw failure;
    });
  }
  if (indexes.length > 0) {
    await db.collection(name).createIndexes([...indexes], { commitQuorum: 'majority', ...MAJORITY });
  }
}

function validator({ version, properties, required }: Schema): Document {
  const title = `version ${version}`;
  return { $jsonSchema: { title, bsonType: 'object', required, additionalProperties: false, properties } };
}

/** The version of the schema that the collection has: 0 if it has none of ours, null if there is no collection. */
async function storedVersion(db: Db, name: string): Promise<number | null> {
  const [collection] = await db.listCollections({ name }).toArray();
  if (collection === undefined) return null;
  const title: unknown = (collection as { options?: Document }).options?.['validator']?.$jsonSchema?.title;
  return Number(/^version (\d+)$/.exec(String(title))?.[1] ?? 0);
}

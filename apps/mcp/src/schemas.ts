import { LIMITS, PET_STATUSES } from '@animal-store/domain';
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';

/** A JSON Schema. Each value has one type: not every client and model understands unions. */
export type Schema = Readonly<Record<string, unknown>>;

/** A 64-bit integer. JSON.parse of most clients would round a number. */
export const INTEGER: Schema = {
  type: 'string',
  pattern: '^-?[0-9]{1,19}$',
  description: 'A 64-bit integer in decimal digits.',
};

export const ID: Schema = { type: 'string', pattern: '^[0-9]{1,19}$', description: 'The id of an animal.' };

export const STATUS: Schema = { type: 'string', enum: PET_STATUSES, description: 'Availability of the animal.' };

export const NAME: Schema = { type: 'string', minLength: 1, maxLength: LIMITS.name.maxLength };

export const PET = objectOf({ id: ID, name: NAME, categoryId: INTEGER, status: STATUS }, ['id', 'name', 'categoryId']);

export function objectOf(properties: Readonly<Record<string, Schema>>, required: readonly string[]): Schema {
  return { type: 'object', properties, required, additionalProperties: false };
}

/**
 * A schema for clients to read. It accepts everything: the domain checks arguments, and its errors name every violation.
 */
export function forClients(schema: Schema): StandardSchemaWithJSON<Readonly<Record<string, unknown>>> {
  const jsonSchema = { input: () => schema, output: () => schema };
  const validate = (value: unknown) => ({ value: value as Readonly<Record<string, unknown>> });
  return { '~standard': { version: 1, vendor: 'animal-store', validate, jsonSchema } };
}

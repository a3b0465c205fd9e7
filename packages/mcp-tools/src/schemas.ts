import { LIMITS, type NewPet } from '@animal-store/domain';
import { NEW_PET_PROPERTIES } from '@animal-store/domain/transport';
import type { JsonSchemaType } from '@modelcontextprotocol/server';

const id = (pattern: string, description: string) => ({ type: 'string', pattern, description });

/** Ids and integers of 64 bits are strings: JSON.parse of most clients would round numbers. */
export const ID = id('^[1-9][0-9]{0,18}$', 'The id of an animal.');

export const AFTER = id('^(0|[1-9][0-9]{0,18})$', 'Only animals with a greater id: the "next" of the page before.');

export const NEXT = id('^[1-9][0-9]{0,18}$', 'The "after" of the next page. Absent on the last page.');

export const STATUS = { ...NEW_PET_PROPERTIES.status, description: 'Availability of the animal.' };

// The message of the domain says more than a pattern.
const { pattern: _, ...name } = NEW_PET_PROPERTIES.name;

/** The members of a pet to be created. */
export const NEW_PET = {
  name,
  categoryId: id('^(0|-?[1-9][0-9]{0,18})$', 'The category of the animal, a 64-bit integer.'),
  status: STATUS,
} satisfies Record<keyof NewPet, JsonSchemaType>;

export const LIMIT = {
  type: 'integer',
  minimum: LIMITS.page.min,
  maximum: LIMITS.page.max,
  default: LIMITS.page.default,
};

export const IDEMPOTENCY_KEY = {
  type: 'string',
  pattern: LIMITS.idempotencyKey.pattern.source,
  description: 'The same key and the same animal add it once, however often.',
};

/** An object with these members and no others. */
export function objectOf(required: string[], properties: Record<string, JsonSchemaType>): JsonSchemaType {
  return { type: 'object', properties, required, additionalProperties: false };
}

export const PET = objectOf(['id', 'name', 'categoryId'], { id: ID, ...NEW_PET });

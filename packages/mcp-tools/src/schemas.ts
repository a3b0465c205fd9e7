import { LIMITS, type NewPet, type Pet, type PetQuery } from '@animal-store/domain';
import { NEW_PET_PROPERTIES } from '@animal-store/domain/transport';
import type { JsonSchemaType } from '@modelcontextprotocol/server';

// Results have no bounds: the SDK would reject what was stored under other ones.

/** @param bounds Rules about an argument, which use cases check. */
const text = (description: string, bounds: object = {}) => ({ type: 'string', ...bounds, description });

const PET_ID = 'The id of an animal.';
const CATEGORY_ID = 'The category of the animal, a 64-bit integer.';

/** Ids and integers of 64 bits are strings: JSON.parse of most clients would round numbers. */
export const ID = text(PET_ID, { pattern: '^[1-9][0-9]{0,18}$' });

const AFTER = text('Only animals with a greater id: the "next" of the page before.', {
  pattern: '^(0|[1-9][0-9]{0,18})$',
});

export const NEXT = text('The "after" of the next page. Absent on the last page.');

const STATUS = { ...NEW_PET_PROPERTIES.status, description: 'Availability of the animal.' };

/** The arguments that describe a pet to be created. */
export const PET_ARGUMENTS = {
  name: NEW_PET_PROPERTIES.name,
  categoryId: text(CATEGORY_ID, { pattern: '^(0|-?[1-9][0-9]{0,18})$' }),
  status: STATUS,
} satisfies Record<keyof NewPet, JsonSchemaType>;

const LIMIT = {
  type: 'integer',
  minimum: LIMITS.page.min,
  maximum: LIMITS.page.max,
  default: LIMITS.page.default,
};

/** The arguments that select a page. */
export const PAGE_ARGUMENTS = {
  limit: LIMIT,
  status: STATUS,
  after: AFTER,
} satisfies Record<keyof PetQuery, JsonSchemaType>;

export const IDEMPOTENCY_KEY = {
  type: 'string',
  pattern: LIMITS.idempotencyKey.pattern.source,
  description: 'The same key and the same animal add it once, however often.',
};

/** An object with these members and no others. */
export function objectOf(required: string[], properties: Record<string, JsonSchemaType>) {
  return { type: 'object', properties, required, additionalProperties: false } satisfies JsonSchemaType;
}

const PET_PROPERTIES = {
  id: text(PET_ID),
  name: { type: 'string' },
  categoryId: text(CATEGORY_ID),
  status: STATUS,
} satisfies Record<keyof Pet, JsonSchemaType>;

export const PET = objectOf(['id', 'name', 'categoryId'], PET_PROPERTIES);

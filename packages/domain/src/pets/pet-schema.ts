import { LIMITS } from './limits.ts';
import { type NewPet, PET_STATUSES } from './pet.ts';

/**
 * The members of a NewPet as schemas (JSON Schema 2020-12), for transports to derive those of requests from. The name must
 * also be well-formed Unicode with a character that is not white space and no U+0000: no pattern says so, because generators of
 * clients copy patterns into source code that then does not compile. What is returned has no such bounds: clients may know
 * older ones.
 */
export const NEW_PET_PROPERTIES = {
  name: {
    type: 'string',
    minLength: 1,
    maxLength: LIMITS.name.maxLength,
  },
  categoryId: { type: 'integer', format: 'int64', minimum: LIMITS.categoryId.min, maximum: LIMITS.categoryId.max },
  status: { type: 'string', enum: [...PET_STATUSES] },
} as const satisfies Readonly<Record<keyof NewPet, object>>;

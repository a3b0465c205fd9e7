import { LIMITS } from './limits.ts';
import { type NewPet, PET_STATUSES } from './pet.ts';

/**
 * The members of a NewPet as schemas (JSON Schema 2020-12), for transports to derive theirs from. The name must also be
 * well-formed Unicode, which no schema says.
 */
export const NEW_PET_PROPERTIES = {
  name: {
    type: 'string',
    minLength: 1,
    maxLength: LIMITS.name.maxLength,
    // A character that is not white space, and no U+0000. Anchored, and with `\x` because validators in Go reject `\u` in patterns.
    pattern: '^\\s*[^\\s\\x00][^\\x00]*$',
  },
  categoryId: { type: 'integer', format: 'int64', minimum: LIMITS.categoryId.min, maximum: LIMITS.categoryId.max },
  status: { type: 'string', enum: [...PET_STATUSES] },
} as const satisfies Readonly<Record<keyof NewPet, object>>;

import { LIMITS } from './limits.ts';
import { type NewPet, PET_STATUSES } from './pet.ts';

/**
 * The white space of `LIMITS.name.pattern`, as characters: `\s` means others in Python, and Go rejects `\u` in patterns. Every
 * language knows `\t`, `\r` and `\x0b`.
 */
const SPACE = '\\t-\\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';

/**
 * The members of a NewPet as schemas (JSON Schema 2020-12), for transports to derive those of requests from. The name must
 * also be well-formed Unicode, which no schema says. What is returned has no such bounds: clients may know older ones.
 */
export const NEW_PET_PROPERTIES = {
  name: {
    type: 'string',
    minLength: 1,
    maxLength: LIMITS.name.maxLength,
    // A character that is not white space, and no U+0000. Anchored, because some validators match the beginning or the whole.
    pattern: `^[${SPACE}]*[^${SPACE}\\x00][^\\x00]*$`,
  },
  categoryId: { type: 'integer', format: 'int64', minimum: LIMITS.categoryId.min, maximum: LIMITS.categoryId.max },
  status: { type: 'string', enum: [...PET_STATUSES] },
} as const satisfies Readonly<Record<keyof NewPet, object>>;

import { LIMITS, PET_STATUSES } from '@animal-store/domain';
import Type from 'typebox';

// JSON Schema 2020-12 of everything about pets on the wire. Every bound is the domain's own.

/**
 * A character that is not white space. Anchored and without escapes of code points: validators in Go reject `\u` in patterns.
 */
export const NAME_PATTERN_OF_DOCUMENT = '^\\s*\\S[\\s\\S]*$';

// Generators for TypeScript and mock servers can't hold the extremes of 64 bits.
export const EXAMPLE_NEW_PET = { name: 'Rex', categoryId: 42, status: 'available' } as const;
export const EXAMPLE_PET = { id: 1, ...EXAMPLE_NEW_PET } as const;

const nameAndCategory = {
  name: Type.String({
    minLength: 1,
    maxLength: LIMITS.name.maxLength,
    pattern: NAME_PATTERN_OF_DOCUMENT,
    description:
      "The animal's name, kept as sent: well-formed Unicode with a character that is not white space; its length is counted in code points.",
  }),
  categoryId: Type.Integer({
    format: 'int64',
    minimum: LIMITS.categoryId.min,
    maximum: LIMITS.categoryId.max,
    description:
      'Identifier of the category the animal belongs to. Exact over the whole range of 64 bits, up to 9223372036854775807.',
  }),
};

const id = Type.Integer({
  format: 'int64',
  minimum: LIMITS.id.min,
  maximum: LIMITS.id.maxAssigned,
  description: 'Unique identifier assigned by the service, below 2^53.',
});

const status = Type.Optional(Type.Ref('#/components/schemas/PetStatus'));

/** Schema Objects by their names in the document. */
export const petSchemas = {
  PetStatus: Type.Enum([...PET_STATUSES], { type: 'string', description: 'Availability of an animal.' }),
  NewPet: Type.Object(
    { ...nameAndCategory, status },
    { description: 'An animal to add. Members that are not listed are ignored, `id` among them.' },
  ),
  Pet: Type.Object(
    { id, ...nameAndCategory, status },
    { description: 'An animal. `status` is absent if none was given.' },
  ),
  Pets: Type.Array(Type.Ref('#/components/schemas/Pet'), {
    maxItems: LIMITS.page.max,
    description: 'Animals in ascending order of id.',
  }),
};

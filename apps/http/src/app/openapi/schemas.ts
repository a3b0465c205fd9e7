import { LIMITS, type NewPet } from '@animal-store/domain';
import { NEW_PET_PROPERTIES } from '@animal-store/domain/transport';
import Type, { type TSchema } from 'typebox';
import { ERROR_STATUS } from '../errors.ts';

// JSON Schema 2020-12 of everything on the wire. Every bound is the domain's own.

const newPet = {
  name: Type.String({
    ...NEW_PET_PROPERTIES.name,
    description:
      "The animal's name, kept as sent: well-formed Unicode without U+0000, with a character that is not white space; its length is counted in code points.",
  }),
  categoryId: Type.Integer({
    ...NEW_PET_PROPERTIES.categoryId,
    description:
      'Identifier of the category the animal belongs to. Exact over the whole range of 64 bits, up to 9223372036854775807.',
  }),
  status: Type.Optional(Type.Ref('#/components/schemas/PetStatus')),
} satisfies Record<keyof NewPet, TSchema>;

const id = Type.Integer({
  format: 'int64',
  minimum: LIMITS.id.min,
  maximum: LIMITS.id.maxAssigned,
  description: 'Unique identifier assigned by the service, below 2^53.',
});

/** Schema Objects by their names in the document. */
export const SCHEMAS = {
  PetStatus: Type.Enum(NEW_PET_PROPERTIES.status.enum, { type: 'string', description: 'Availability of an animal.' }),
  NewPet: Type.Object(newPet, {
    description: 'An animal to add. Members that are not listed are ignored, `id` among them.',
  }),
  Pet: Type.Object({ id, ...newPet }, { description: 'An animal. `status` is absent if none was given.' }),
  Pets: Type.Array(Type.Ref('#/components/schemas/Pet'), {
    maxItems: LIMITS.page.max,
    description: 'Animals in ascending order of id.',
  }),
  Error: Type.Object(
    {
      code: Type.Enum(Object.keys(ERROR_STATUS), {
        type: 'string',
        description: 'Machine-readable. The set is closed.',
      }),
      message: Type.String({ description: 'Human-readable: what is wrong and what to do about it.' }),
      status: Type.Integer({ minimum: 400, maximum: 599, description: 'The HTTP status code of the response.' }),
    },
    { additionalProperties: false, description: 'Why the service rejected or failed the request.' },
  ),
};

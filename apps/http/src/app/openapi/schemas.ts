import type { NewPet, Pet } from '@animal-store/domain';
import { NEW_PET_PROPERTIES } from '@animal-store/domain/transport';
import Type, { type TSchema } from 'typebox';
import { ERROR_STATUS } from '../errors.ts';

// JSON Schema 2020-12 of everything on the wire. What is sent has the domain's bounds. What is returned has none, because
// generated clients would reject what was stored under other bounds.

const status = Type.Optional(Type.Ref('#/components/schemas/PetStatus'));

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
  status,
} satisfies Record<keyof NewPet, TSchema>;

const pet = {
  id: Type.Integer({ format: 'int64', description: 'Unique identifier assigned by the service, below 2^53.' }),
  name: Type.String({ description: "The animal's name, as it was sent." }),
  categoryId: Type.Integer({
    format: 'int64',
    description: 'Identifier of the category the animal belongs to, in the whole range of 64 bits.',
  }),
  status,
} satisfies Record<keyof Pet, TSchema>;

/** Schema Objects by their names in the document. */
export const SCHEMAS = {
  PetStatus: Type.Enum(NEW_PET_PROPERTIES.status.enum, { type: 'string', description: 'Availability of an animal.' }),
  NewPet: Type.Object(newPet, {
    description: 'An animal to add. Members that are not listed are ignored, `id` and mistyped ones among them.',
  }),
  Pet: Type.Object(pet, { description: 'An animal. A member that was not given is absent.' }),
  Pets: Type.Array(Type.Ref('#/components/schemas/Pet'), { description: 'Animals in ascending order of id.' }),
  Error: Type.Object(
    {
      code: Type.Enum(Object.keys(ERROR_STATUS), {
        type: 'string',
        description: 'Machine-readable. The set is closed.',
      }),
      message: Type.String({ description: 'Human-readable: what is wrong and what to do about it.' }),
      status: Type.Integer({ description: 'The HTTP status code of the response.' }),
    },
    { additionalProperties: false, description: 'Why the service rejected or failed the request.' },
  ),
};

import {
  CATEGORY_ID_MAX,
  CATEGORY_ID_MIN,
  NAME_MAX_LENGTH,
  NAME_PATTERN,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  PAGE_LIMIT_MIN,
  PET_ID_MAX,
  PET_ID_MIN,
  PET_STATUSES,
} from '@animal-store/domain';
import Type from 'typebox';
import { ERROR_STATUS } from '../http/http-error.ts';

// What goes over the wire, as JSON Schema 2020-12. Every bound is the domain's own.

export const PetStatusSchema = Type.Enum([...PET_STATUSES], {
  type: 'string',
  description: 'Availability of an animal.',
});

const nameAndCategory = {
  name: Type.String({
    minLength: 1,
    maxLength: NAME_MAX_LENGTH,
    pattern: NAME_PATTERN.source,
    description:
      "The animal's name, kept as sent: well-formed Unicode with a character that is not white space; its length is counted in code points.",
  }),
  categoryId: Type.Integer({
    format: 'int64',
    minimum: CATEGORY_ID_MIN,
    maximum: CATEGORY_ID_MAX,
    description: 'Identifier of the category the animal belongs to. Exact over the whole range of 64 bits.',
  }),
};

const PetIdSchema = Type.Integer({
  format: 'int64',
  minimum: PET_ID_MIN,
  maximum: PET_ID_MAX,
  description: 'Unique identifier assigned by the service, below 2^53.',
});

const status = Type.Optional(Type.Ref('#/components/schemas/PetStatus'));

export const NewPetSchema = Type.Object(
  { ...nameAndCategory, status },
  { description: 'An animal to add. Members that are not listed are ignored, `id` among them.' },
);

export const PetSchema = Type.Object(
  { id: PetIdSchema, ...nameAndCategory, status },
  { description: 'An animal. `status` is absent where none was given.' },
);

export const PetsSchema = Type.Array(Type.Ref('#/components/schemas/Pet'), {
  maxItems: PAGE_LIMIT_MAX,
  description: 'Animals in ascending order of id.',
});

export const ErrorSchema = Type.Object(
  {
    code: Type.Enum(Object.keys(ERROR_STATUS), { type: 'string', description: 'Machine-readable. The set is closed.' }),
    message: Type.String({ description: 'For people: what is wrong and what to do about it.' }),
    status: Type.Integer({ minimum: 400, maximum: 599, description: 'The HTTP status code of the response.' }),
  },
  { additionalProperties: false, description: 'Why a request was not carried out.' },
);

export const HealthSchema = Type.Object({ status: Type.Enum(['live', 'ready'], { type: 'string' }) });

export const LimitSchema = Type.Integer({
  minimum: PAGE_LIMIT_MIN,
  maximum: PAGE_LIMIT_MAX,
  default: PAGE_LIMIT_DEFAULT,
});

export const CursorSchema = Type.String({ pattern: '^[A-Za-z0-9_-]{12}$' });

export const PetIdParameterSchema = Type.Integer({ format: 'int64', minimum: PET_ID_MIN, maximum: PET_ID_MAX });

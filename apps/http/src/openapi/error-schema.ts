import Type from 'typebox';
import { ERROR_STATUS } from '../http/http-error.ts';

/** The JSON Schema of the Error body. */
export const ErrorSchema = Type.Object(
  {
    code: Type.Enum(Object.keys(ERROR_STATUS), { type: 'string', description: 'Machine-readable. The set is closed.' }),
    message: Type.String({ description: 'Human-readable: what is wrong and what to do about it.' }),
    status: Type.Integer({ minimum: 400, maximum: 599, description: 'The HTTP status code of the response.' }),
  },
  { additionalProperties: false, description: 'Why the service rejected or failed the request.' },
);

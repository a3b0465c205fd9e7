import { LIMITS } from '@animal-store/domain';
import { andThen, quote } from '@animal-store/domain/transport';
import { CLIENT_MESSAGES } from '../http/client-messages.ts';
import { HttpError } from '../http/http-error.ts';
import { jsonResponse } from '../http/response.ts';
import type { DescribedOperation } from '../openapi/document.ts';
import type { PetDependencies } from './dependencies.ts';
import { petJson } from './pet-json.ts';
import { EXAMPLE_PET, petSchemas } from './schemas.ts';

/** When getPet was deprecated, in milliseconds since the epoch. */
const DEPRECATED_AT = Date.UTC(2026, 10, 20);

/** When getPet is removed, in milliseconds since the epoch. */
const REMOVED_AT = Date.UTC(2030, 11, 5);

const DECIMAL = /^[1-9]\d{0,18}$/;

/** `GET /pets/{petId}`: one pet, until the operation's removal; 410 from then on. */
export function getPet({ catalogue, clock, basePath }: PetDependencies): DescribedOperation {
  const start = `${basePath}/pets/`.length;
  const removed = CLIENT_MESSAGES.removed(basePath);
  return {
    operationId: 'getPet',
    method: 'get',
    path: '/pets/{petId}',
    headers: {
      Deprecation: {
        value: `@${DEPRECATED_AT / 1000}`,
        description: 'Since when the operation is deprecated (RFC 9745).',
      },
      Sunset: {
        value: new Date(REMOVED_AT).toUTCString(),
        description: 'When the operation is removed (RFC 8594).',
      },
      Link: {
        value: `<${basePath}/pets>; rel="successor-version"`,
        description: 'The replacement of the operation (RFC 5829).',
      },
    },
    handle(request) {
      if (clock() >= REMOVED_AT) throw new HttpError('endpoint_removed', removed);
      return andThen(catalogue.getPet(readPetId(request.req.path.slice(start))), (pet) => jsonResponse(petJson(pet)));
    },
    describe: (t) => ({
      tags: ['Pets'],
      summary: 'Get an animal',
      description: `Returns one animal. Removed on ${new Date(REMOVED_AT).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })}: use \`GET /pets\` with the status filter instead.`,
      deprecated: true,
      parameters: [
        {
          name: 'petId',
          in: 'path',
          required: true,
          description: 'Identifier of the animal to retrieve.',
          schema: t.Type.Integer({ format: 'int64', minimum: LIMITS.id.min, maximum: LIMITS.id.max }),
        },
      ],
      responses: {
        200: { description: 'The animal.', content: t.jsonContent('Pet', EXAMPLE_PET) },
        404: t.errorResponseObject('pet_not_found', 'no animal with this identifier.', 'no pet has the id 7'),
        410: t.errorResponseObject('endpoint_removed', 'the operation has been removed.', removed),
      },
      schemas: petSchemas(t),
    }),
  };
}

function readPetId(text: string): bigint {
  if (DECIMAL.test(text)) return BigInt(text);
  throw new HttpError('pet_not_found', CLIENT_MESSAGES.noPet(quote(text)));
}

import { LIMITS } from '@animal-store/domain';
import { quote } from '@animal-store/domain/transport';
import { HttpError, JSON_TYPE } from '../errors.ts';
import { toJson } from '../json.ts';
import { CLIENT_MESSAGES } from '../messages.ts';
import { EXAMPLE_PET, errorContent, jsonContent, parameter } from '../openapi/responses.ts';
import type { Operation, OperationDependencies } from './operation.ts';

/** When getPet was deprecated, in milliseconds since the epoch. */
const DEPRECATED_AT = Date.UTC(2026, 10, 20);

/** When getPet is removed, in milliseconds since the epoch. */
const REMOVED_AT = Date.UTC(2030, 11, 5);

const DECIMAL = /^[1-9]\d{0,18}$/;
const ID = { type: 'integer', format: 'int64', minimum: LIMITS.id.min, maximum: LIMITS.id.max };

/** `GET /pets/{petId}`: one pet, until the operation's removal; 410 from then on. */
export function getPet({ catalogue, clock, basePath }: OperationDependencies): Operation {
  const removed = CLIENT_MESSAGES.removed(basePath);
  return {
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
    async handle({ req }) {
      if (clock() >= REMOVED_AT) throw new HttpError('endpoint_removed', removed);
      const text = req.param('petId') ?? '';
      if (!DECIMAL.test(text) || BigInt(text) > LIMITS.id.max)
        throw new HttpError('pet_not_found', CLIENT_MESSAGES.noPet(quote(text)));
      const pet = await catalogue.getPet(BigInt(text));
      return { status: 200, headers: JSON_TYPE, body: JSON.stringify(toJson(pet)) };
    },
    description: {
      operationId: 'getPet',
      summary: 'Get an animal',
      description:
        'Returns one animal. Removed on 5 December 2030: keep the animal that `POST /pets` has returned, or read the list of ' +
        '`GET /pets`. From then on only the tool `get_pet` of MCP reads one animal by its id.',
      deprecated: true,
      parameters: [parameter('path', 'petId', 'Identifier of the animal to retrieve.', ID, 1)],
      responses: {
        200: { description: 'The animal.', content: jsonContent('Pet', EXAMPLE_PET) },
        404: errorContent('pet_not_found', 'no pet has the id 7'),
        410: errorContent('endpoint_removed', removed),
      },
    },
  };
}

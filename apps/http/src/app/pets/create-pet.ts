import { LIMITS, type NewPet } from '@animal-store/domain';
import { invalidRequest, JSON_TYPE } from '../errors.ts';
import { parseJson, requireJson, toJson } from '../json.ts';
import { readBody } from '../load-shedding.ts';
import { BODY_MAX_BYTES, CLIENT_MESSAGES } from '../messages.ts';
import {
  EXAMPLE_NEW_PET,
  EXAMPLE_PET,
  errorContent,
  header,
  jsonContent,
  optionalHeader,
  parameter,
  ref,
} from '../openapi/responses.ts';
import { respond } from '../respond.ts';
import type { Operation, OperationDependencies } from './operation.ts';

const { maxLength: MAX_LENGTH, pattern: PATTERN } = LIMITS.idempotencyKey;

/** `POST /pets`: creates a pet; with an Idempotency-Key, one pet however often it is sent. */
export function createPet({ catalogue, basePath }: OperationDependencies): Operation {
  return {
    method: 'post',
    path: '/pets',
    async handle(c) {
      const exchange = c.get('exchange');
      const { request } = exchange;
      requireJson(request);
      const newPet = parseJson(await readBody(exchange)) as NewPet;
      const key = request.header('idempotency-key');
      // Repeated fields are joined with a comma and a space, which no key may contain.
      const count = key?.split(', ').length ?? 0;
      if (count > 1) throw invalidRequest(CLIENT_MESSAGES.notOnce('Idempotency-Key', count));
      const { holder } = c.get('key');
      const { pet, created } = await catalogue.createPet(newPet, key === undefined ? undefined : { holder, key });
      const location = `${basePath}/pets/${pet.id}`;
      const headers = created ? { location } : { location, 'idempotent-replayed': 'true' };
      return respond(c, { status: 201, headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(toJson(pet)) });
    },
    description: {
      operationId: 'createPet',
      summary: 'Add an animal',
      description:
        'Adds a new animal. A request with an Idempotency-Key can be repeated after a lost response: the animal is added once, and ' +
        'each repetition gets the first response again. Keys are kept as long as the animal.',
      parameters: [
        parameter(
          'header',
          'Idempotency-Key',
          'Names this creation among those of the holder of the API key. Visible ASCII characters.',
          { type: 'string', minLength: 1, maxLength: MAX_LENGTH, pattern: PATTERN.source },
        ),
      ],
      requestBody: {
        required: true,
        description: `At most ${BODY_MAX_BYTES} bytes of UTF-8.`,
        content: jsonContent('NewPet', EXAMPLE_NEW_PET),
      },
      responses: {
        201: {
          description: 'The animal as it was added.',
          headers: {
            Location: header('Where the animal can be read.', `${basePath}/pets/1`),
            'Idempotent-Replayed': optionalHeader(
              'Present if an earlier request with this key added the animal.',
              'true',
            ),
          },
          content: jsonContent('Pet', EXAMPLE_PET),
          links: {
            getPet: {
              operationId: 'getPet',
              parameters: { petId: '$response.body#/id' },
              description: 'Reads the animal.',
            },
          },
        },
        400: ref('responses', 'BadRequest'),
        413: errorContent('payload_too_large', CLIENT_MESSAGES.bodyIsTooLarge),
        415: errorContent('unsupported_media_type', CLIENT_MESSAGES.contentType),
        422: errorContent(
          'idempotency_key_reused',
          'this idempotency key was used for another pet: use a new key, or send the first pet again',
        ),
      },
    },
  };
}

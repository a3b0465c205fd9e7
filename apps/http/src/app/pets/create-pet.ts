import { DomainError, LIMITS, type NewPet } from '@animal-store/domain';
import { keyHolder } from '../auth.ts';
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
import type { Operation, OperationDependencies } from './operation.ts';

const { maxLength: MAX_LENGTH, pattern: PATTERN } = LIMITS.idempotencyKey;

/** The error of a creation, in terms of the header field. */
function inFields(error: unknown, key = ''): unknown {
  // Repeated fields are joined with a comma and a space, which no key may contain.
  const count = key.split(', ').length;
  if (count === 1 || !DomainError.is(error) || error.code !== 'invalid') return error;
  const messages = error.violations.map(({ field, message }) =>
    field === 'idempotencyKey' ? CLIENT_MESSAGES.notOnce('Idempotency-Key', count) : message,
  );
  return invalidRequest(messages.join('; '));
}

/** `POST /pets`: creates a pet; with an Idempotency-Key, one pet however often it is sent. */
export function createPet({ catalogue, basePath }: OperationDependencies): Operation {
  return {
    method: 'post',
    path: '/pets',
    async handle(_, exchange) {
      const { request } = exchange;
      requireJson(request);
      const newPet = parseJson(await readBody(exchange)) as NewPet;
      const key = request.header('idempotency-key');
      const holder = keyHolder(exchange);
      const idempotencyKey = key === undefined ? undefined : { holder, key };
      const { pet, created } = await catalogue.createPet(newPet, idempotencyKey).catch((error) => {
        throw inFields(error, key);
      });
      const location = `${basePath}/pets/${pet.id}`;
      const headers = created ? { location } : { location, 'idempotent-replayed': 'true' };
      return { status: 201, headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(toJson(pet)) };
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
        description: `At most ${BODY_MAX_BYTES} bytes of UTF-8. Members that are not listed are ignored, also mistyped ones.`,
        content: jsonContent('NewPet', EXAMPLE_NEW_PET),
      },
      responses: {
        201: {
          description: 'The animal as it was added.',
          headers: {
            Location: header('Where the animal can be read until 5 December 2030, see getPet.', `${basePath}/pets/1`),
            'Idempotent-Replayed': optionalHeader(
              'Present if an earlier request with this key added the animal.',
              'true',
            ),
          },
          content: jsonContent('Pet', EXAMPLE_PET),
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

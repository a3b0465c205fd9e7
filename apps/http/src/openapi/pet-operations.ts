import { LIMITS } from '@animal-store/domain';
import Type from 'typebox';
import { CLIENT_MESSAGES } from '../http/client-messages.ts';
import { BODY_MAX_BYTES } from '../http/request-body.ts';
import { REMOVED_AT } from '../pets/get-pet.ts';
import {
  errorResponseObject,
  header,
  jsonContent,
  type OperationDescriptions,
  optionalHeader,
  responseRef,
  schemaRef,
} from './building-blocks.ts';
import { EXAMPLE_NEW_PET, EXAMPLE_PET } from './pet-schemas.ts';

/** The descriptions of the operations on pets, by path and method. */
export function describePetOperations(basePath: string): OperationDescriptions {
  return {
    '/pets': {
      get: {
        operationId: 'listPets',
        tags: ['Pets'],
        summary: 'List all animals',
        description:
          'Returns a page of animals in ascending order of id. If there are more, the Link header field has the URL of the next page: ' +
          'resolve it against the URL of the request. Following it to its end yields every animal that existed at the start exactly once.',
        parameters: [
          {
            name: 'limit',
            in: 'query',
            description: 'Maximum number of animals returned.',
            schema: Type.Integer({
              minimum: LIMITS.page.min,
              maximum: LIMITS.page.max,
              default: LIMITS.page.default,
            }),
          },
          {
            name: 'status',
            in: 'query',
            description: 'Returns only animals with this availability status.',
            schema: schemaRef('PetStatus'),
          },
          {
            name: 'cursor',
            in: 'query',
            description: 'Where the page begins. Opaque: clients take it from a Link header field and never make one.',
            schema: Type.String(),
          },
        ],
        responses: {
          200: {
            description: 'A page of animals.',
            headers: {
              Link: optionalHeader(
                'Present if there are more animals: the URL of the next page (RFC 8288, `rel="next"`).',
                `<${basePath}/pets?limit=20&cursor=AQAAAAAAAAAU>; rel="next"`,
              ),
            },
            content: jsonContent('Pets', [EXAMPLE_PET]),
          },
          400: responseRef('BadRequest'),
        },
      },
      post: {
        operationId: 'createPet',
        tags: ['Pets'],
        summary: 'Add an animal',
        description:
          'Adds a new animal. A request with an Idempotency-Key can be repeated after a lost response: the animal is added once, and ' +
          'each repetition gets the first response again. Keys are kept as long as the animal.',
        parameters: [
          {
            name: 'Idempotency-Key',
            in: 'header',
            description: 'Names this creation among those of the holder of the API key. Visible ASCII characters.',
            schema: {
              type: 'string',
              minLength: 1,
              maxLength: LIMITS.idempotencyKey.maxLength,
              pattern: LIMITS.idempotencyKey.pattern.source,
            },
          },
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
          },
          400: responseRef('BadRequest'),
          413: errorResponseObject(
            'payload_too_large',
            'the body is too large.',
            `the body must be at most ${BODY_MAX_BYTES} bytes`,
          ),
          415: errorResponseObject(
            'unsupported_media_type',
            'the body is not declared as plain application/json.',
            CLIENT_MESSAGES.contentType,
          ),
          422: errorResponseObject(
            'idempotency_key_reused',
            'the Idempotency-Key already stands for another animal.',
            'this idempotency key was used for another pet: use a new key, or send the first pet again',
          ),
        },
      },
    },
    '/pets/{petId}': {
      get: {
        operationId: 'getPet',
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
            schema: Type.Integer({ format: 'int64', minimum: LIMITS.id.min, maximum: LIMITS.id.max }),
          },
        ],
        headers: {
          Deprecation: 'Since when the operation is deprecated (RFC 9745).',
          Sunset: 'When the operation is removed (RFC 8594).',
          Link: 'The replacement of the operation (RFC 5829).',
        },
        responses: {
          200: { description: 'The animal.', content: jsonContent('Pet', EXAMPLE_PET) },
          404: errorResponseObject('pet_not_found', 'no animal with this identifier.', 'no pet has the id 7'),
          410: errorResponseObject(
            'endpoint_removed',
            'the operation has been removed.',
            CLIENT_MESSAGES.removed(basePath),
          ),
        },
      },
    },
  };
}

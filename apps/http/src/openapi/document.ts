import { IDEMPOTENCY_KEY_MAX_LENGTH, IDEMPOTENCY_KEY_PATTERN } from '@animal-store/domain';
import { exactJson } from '@animal-store/exact-json';
import { BODY_MAX_BYTES } from '../http/request-body.ts';
import { CursorSchema, LimitSchema, PetIdParameterSchema } from '../pets/schemas.ts';
import {
  commonResponses,
  components,
  error,
  headerRef,
  internalError,
  quotaHeaders,
  requestIdHeader,
  responseRef,
  schemaRef,
  serviceUnavailable,
  sunsetHeaders,
  tooManyRequests,
  unauthorized,
} from './components.ts';

const exampleOfNewPet = { name: 'Rex', categoryId: 9223372036854775807n, status: 'available' };
const exampleOfPet = { id: 1n, ...exampleOfNewPet };

/**
 * The OpenAPI document (version 3.1) of the service as JSON text.
 *
 * @param basePath Where the operations' paths begin.
 */
export function openApiDocument(basePath: string): string {
  return exactJson({
    openapi: '3.1.0',
    info: {
      title: 'Animal Store',
      version: '1.0.0',
      summary: 'A catalogue of animals offered in a store.',
      description:
        'All data is JSON. Integers of format int64 use the whole range of 64 bits: read them with a parser that keeps ' +
        'their digits. HEAD is answered wherever GET is. Orders, categories, status transitions and events are not part ' +
        'of this interface.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: basePath, description: 'The host that served this document' }],
    security: [{ apiKey: [] }],
    tags: [
      { name: 'Pets', description: 'The catalogue' },
      { name: 'Operations', description: 'For those who run the service' },
    ],
    paths: {
      '/pets': { get: listPets, post: createPet },
      '/pets/{petId}': { get: getPet(basePath) },
      '/livez': probe('livez', 'Whether the process serves', 'live'),
      '/readyz': probe('readyz', 'Whether animals can be read and written now', 'ready'),
      '/healthz': probe('healthz', 'The same as /readyz', 'ready'),
    },
    components: components(basePath),
  });
}

const listPets = {
  operationId: 'listPets',
  tags: ['Pets'],
  summary: 'List all animals',
  description: 'Returns a page of animals in ascending order of id. Follow the Link field to see them all.',
  parameters: [
    { name: 'limit', in: 'query', description: 'Maximum number of animals returned.', schema: LimitSchema },
    {
      name: 'status',
      in: 'query',
      description: 'Returns only animals with this availability status.',
      schema: schemaRef('PetStatus'),
    },
    {
      name: 'cursor',
      in: 'query',
      description: 'The place to go on from: taken from a Link field, never made by a client.',
      schema: CursorSchema,
    },
  ],
  responses: {
    200: {
      description: 'A page of animals.',
      headers: { Link: headerRef('NextLink'), ...quotaHeaders, ...requestIdHeader },
      content: { 'application/json': { schema: schemaRef('Pets'), example: [exampleOfPet] } },
    },
    400: responseRef('BadRequest'),
    ...commonResponses,
  },
};

const createPet = {
  operationId: 'createPet',
  tags: ['Pets'],
  summary: 'Add an animal',
  description:
    'Adds a new animal. Send an Idempotency-Key to be able to repeat the request after a lost answer: the animal is ' +
    'added once, and each repetition gets the first answer again.',
  parameters: [
    {
      name: 'Idempotency-Key',
      in: 'header',
      description: 'Names this addition among those of the holder of the API key. Visible ASCII characters.',
      schema: {
        type: 'string',
        minLength: 1,
        maxLength: IDEMPOTENCY_KEY_MAX_LENGTH,
        pattern: IDEMPOTENCY_KEY_PATTERN.source,
      },
    },
  ],
  requestBody: {
    required: true,
    description: `At most ${BODY_MAX_BYTES} bytes of UTF-8.`,
    content: { 'application/json': { schema: schemaRef('NewPet'), example: exampleOfNewPet } },
  },
  responses: {
    201: {
      description: 'The animal as it was added.',
      headers: { Location: headerRef('Location'), ...quotaHeaders, ...requestIdHeader },
      content: { 'application/json': { schema: schemaRef('Pet'), example: exampleOfPet } },
    },
    400: responseRef('BadRequest'),
    413: error('payload_too_large', 'the body is too large.', `the body must be at most ${BODY_MAX_BYTES} bytes`),
    415: error(
      'unsupported_media_type',
      'the body is not declared as plain application/json.',
      'send the animal as Content-Type: application/json',
    ),
    422: error(
      'idempotency_key_reused',
      'the Idempotency-Key already stands for another animal.',
      'this idempotency key was used for another animal: use a new key, or send the first animal again',
    ),
    ...commonResponses,
  },
};

const getPet = (basePath: string) => ({
  operationId: 'getPet',
  tags: ['Pets'],
  summary: 'Get an animal',
  description: 'Returns one animal. Removed on 5 December 2030: use `GET /pets` with the status filter instead.',
  deprecated: true,
  parameters: [
    {
      name: 'petId',
      in: 'path',
      required: true,
      description: 'Identifier of the animal to retrieve.',
      schema: PetIdParameterSchema,
    },
  ],
  responses: {
    200: {
      description: 'The animal.',
      headers: { ...sunsetHeaders, ...quotaHeaders, ...requestIdHeader },
      content: { 'application/json': { schema: schemaRef('Pet'), example: exampleOfPet } },
    },
    404: error('pet_not_found', 'no animal with this identifier.', 'no animal has the id 7', sunsetHeaders),
    410: error(
      'endpoint_removed',
      'the operation has been removed.',
      `this endpoint was removed: use GET ${basePath}/pets, which lists animals`,
      sunsetHeaders,
    ),
    ...commonResponses,
    401: unauthorized(sunsetHeaders),
    429: tooManyRequests(sunsetHeaders),
    500: internalError(sunsetHeaders),
    503: serviceUnavailable(sunsetHeaders),
  },
});

/** A path beside the base path, open to everyone. */
function probe(operationId: string, summary: string, status: 'live' | 'ready') {
  return {
    servers: [{ url: '/' }],
    get: {
      operationId,
      tags: ['Operations'],
      summary,
      security: [],
      responses: {
        200: {
          description: 'Yes.',
          content: { 'application/json': { schema: schemaRef('Health'), example: { status } } },
        },
        ...(status === 'ready' ? { 503: responseRef('ServiceUnavailable') } : {}),
        default: responseRef('OtherError'),
      },
    },
  };
}

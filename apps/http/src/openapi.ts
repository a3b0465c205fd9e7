import { IDEMPOTENCY_KEY_MAX_LENGTH, IDEMPOTENCY_KEY_PATTERN } from '@animal-store/domain';
import { exactJson } from '@animal-store/exact-json';
import { DEPRECATED_AT, REMOVED_AT } from './get-pet.ts';
import { ERROR_STATUS, type ErrorCode } from './http-error.ts';
import { BODY_MAX_BYTES } from './request-body.ts';
import {
  CursorSchema,
  ErrorSchema,
  HealthSchema,
  LimitSchema,
  NewPetSchema,
  PetIdParameterSchema,
  PetSchema,
  PetStatusSchema,
  PetsSchema,
} from './schemas.ts';

const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const responseRef = (name: string) => ({ $ref: `#/components/responses/${name}` });
const headerRef = (name: string) => ({ $ref: `#/components/headers/${name}` });
/** @param message What the Error body of the example says. */
const error = (code: ErrorCode, description: string, message: string, headers: HeaderObjects = {}) => ({
  description: `${code}: ${description}`,
  headers: { ...headers, ...requestIdHeader },
  content: {
    'application/json': { schema: schemaRef('Error'), example: { code, message, status: ERROR_STATUS[code] } },
  },
});
const header = (description: string, schema: object, example?: string) => ({
  description,
  schema,
  ...(example === undefined ? {} : { example }),
});
const text = { type: 'string' };

/** Comes with every answer. */
const requestIdHeader = { 'X-Request-Id': headerRef('RequestId') };

/** Fields that come with every answer about a single animal. */
const sunsetHeaders = {
  Deprecation: headerRef('Deprecation'),
  Sunset: headerRef('Sunset'),
  Link: headerRef('SuccessorLink'),
};

type HeaderObjects = Record<string, object>;

/** @param headers Fields that come with it besides. */
const unauthorized = (headers: HeaderObjects) =>
  error(
    'unauthorized',
    'missing or invalid API key.',
    'missing API key: send a valid one as Authorization: Bearer <API_KEY>',
    { 'WWW-Authenticate': headerRef('WwwAuthenticate'), ...headers },
  );
const tooManyRequests = (headers: HeaderObjects) =>
  error(
    'too_many_requests',
    'this holder has used up its share for now.',
    "this API key's holder may make 600 requests in 60 s: try again in 7 s",
    {
      'Retry-After': headerRef('RetryAfter'),
      RateLimit: headerRef('RateLimit'),
      'RateLimit-Policy': headerRef('RateLimitPolicy'),
      ...headers,
    },
  );
const internalError = (headers: HeaderObjects) =>
  error(
    'internal_error',
    'the service is at fault.',
    'the service failed to answer; the fault is on its side and has been logged',
    headers,
  );
const serviceUnavailable = (headers: HeaderObjects) =>
  error(
    'service_unavailable',
    'the storage is out of reach, or the service has too much to do.',
    'the storage cannot be reached or does not answer in time: try again',
    { 'Retry-After': headerRef('RetryAfter'), ...headers },
  );

/** What can come of any operation. */
const commonResponses = {
  401: responseRef('Unauthorized'),
  429: responseRef('TooManyRequests'),
  500: responseRef('InternalError'),
  503: responseRef('ServiceUnavailable'),
  default: responseRef('OtherError'),
};

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
      '/pets/{petId}': { get: getPet },
      '/livez': probe('livez', 'Whether the process serves', 'live'),
      '/readyz': probe('readyz', 'Whether animals can be read and written now', 'ready'),
      '/healthz': probe('healthz', 'The same as /readyz', 'ready'),
    },
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, sent as `Authorization: Bearer <API_KEY>`. Enter the key alone.',
        },
      },
      schemas: {
        PetStatus: PetStatusSchema,
        NewPet: NewPetSchema,
        Pet: PetSchema,
        Pets: PetsSchema,
        Error: ErrorSchema,
        Health: HealthSchema,
      },
      headers: {
        NextLink: header(
          'Present where there are more animals: where to get the next page (RFC 8288, `rel="next"`).',
          text,
          `<${basePath}/pets?limit=20&cursor=AQAAAAAAAAAU>; rel="next"`,
        ),
        Location: header('Where the animal can be read.', text, `${basePath}/pets/1`),
        Deprecation: header('Since when the operation is deprecated (RFC 9745).', text, `@${DEPRECATED_AT / 1000}`),
        Sunset: header('When the operation is removed (RFC 8594).', text, new Date(REMOVED_AT).toUTCString()),
        SuccessorLink: header(
          'What takes the place of the operation (RFC 5829).',
          text,
          `<${basePath}/pets>; rel="successor-version"`,
        ),
        RequestId: header(
          'Names the request in the logs: the one that was sent, if it was well-formed, else a new one.',
          text,
          '6f1c7f6e-4f0b-4f0e-9a52-0d6c2b9f1f5e',
        ),
        RetryAfter: header('After how many seconds to try again.', { type: 'integer', minimum: 1 }),
        RateLimit: header(
          "What is left of the holder's share, and the seconds until it is whole again (draft-ietf-httpapi-ratelimit-headers).",
          text,
          '"default";r=0;t=7',
        ),
        RateLimitPolicy: header("The holder's share and its time in seconds.", text, '"default";q=600;w=60'),
        WwwAuthenticate: header(
          'The challenge of RFC 6750; with `error="invalid_token"` where a key was sent.',
          text,
          'Bearer realm="animal-store"',
        ),
      },
      responses: {
        BadRequest: error(
          'invalid_request',
          'a parameter, a field or the body breaks a rule; the message names each.',
          'name is required; categoryId is required',
        ),
        Unauthorized: unauthorized({}),
        TooManyRequests: tooManyRequests({}),
        InternalError: internalError({}),
        ServiceUnavailable: serviceUnavailable({}),
        OtherError: error(
          'not_found',
          'or method_not_allowed, for other paths and methods; invalid_request with status 400, 408 or 431 for what is not ' +
            'HTTP, late or too long.',
          'there is nothing at this path',
        ),
      },
    },
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
      headers: { Link: headerRef('NextLink'), ...requestIdHeader },
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
      headers: { Location: headerRef('Location'), ...requestIdHeader },
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

const getPet = {
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
      headers: { ...sunsetHeaders, ...requestIdHeader },
      content: { 'application/json': { schema: schemaRef('Pet'), example: exampleOfPet } },
    },
    404: error('pet_not_found', 'no animal with this identifier.', 'no animal has the id 7', sunsetHeaders),
    410: error(
      'endpoint_removed',
      'the operation has been removed.',
      'this endpoint was removed: use GET /v1/pets, which lists animals',
      sunsetHeaders,
    ),
    ...commonResponses,
    401: unauthorized(sunsetHeaders),
    429: tooManyRequests(sunsetHeaders),
    500: internalError(sunsetHeaders),
    503: serviceUnavailable(sunsetHeaders),
  },
};

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

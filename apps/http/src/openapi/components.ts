import { ERROR_STATUS, type ErrorCode } from '../http/http-error.ts';
import { DEPRECATED_AT, REMOVED_AT } from '../pets/get-pet.ts';
import { ErrorSchema, HealthSchema, NewPetSchema, PetSchema, PetStatusSchema, PetsSchema } from '../pets/schemas.ts';

export const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });
export const responseRef = (name: string) => ({ $ref: `#/components/responses/${name}` });
export const headerRef = (name: string) => ({ $ref: `#/components/headers/${name}` });
/** @param message What the Error body of the example says. */
export const error = (code: ErrorCode, description: string, message: string, headers: HeaderObjects = {}) => ({
  description: `${code}: ${description}`,
  headers: { ...headers, ...requestIdHeader },
  content: {
    'application/json': { schema: schemaRef('Error'), example: { code, message, status: ERROR_STATUS[code] } },
  },
});
/** A field that comes with every answer of which the document says so; see `optional` for others. */
const header = (description: string, schema: object, example?: string) => ({
  description,
  required: true,
  schema,
  ...(example === undefined ? {} : { example }),
});
const text = { type: 'string' };

const optional = (given: ReturnType<typeof header>) => ({ ...given, required: false });

/** Comes with every answer. */
export const requestIdHeader = { 'X-Request-Id': headerRef('RequestId') };

/** Come with every answer to a valid key, where the operator has set a limit. */
export const quotaHeaders = { RateLimit: headerRef('RateLimit'), 'RateLimit-Policy': headerRef('RateLimitPolicy') };

/** Fields that come with every answer about a single animal. */
export const sunsetHeaders = {
  Deprecation: headerRef('Deprecation'),
  Sunset: headerRef('Sunset'),
  Link: headerRef('SuccessorLink'),
};

type HeaderObjects = Record<string, object>;

/** @param headers Fields that come with it besides. */
export const unauthorized = (headers: HeaderObjects) =>
  error(
    'unauthorized',
    'missing or invalid API key.',
    'missing API key: send a valid one as Authorization: Bearer <API_KEY>',
    { 'WWW-Authenticate': headerRef('WwwAuthenticate'), ...headers },
  );
export const tooManyRequests = (headers: HeaderObjects) =>
  error(
    'too_many_requests',
    'this holder has used up its quota for now.',
    "this API key's holder may make 600 requests in 60 s: try again in 7 s",
    {
      'Retry-After': headerRef('RetryAfter'),
      ...quotaHeaders,
      ...headers,
    },
  );
export const internalError = (headers: HeaderObjects) =>
  error(
    'internal_error',
    'unexpected error.',
    'unexpected error in the service; it has been logged under the id of this request',
    headers,
  );
export const serviceUnavailable = (headers: HeaderObjects) =>
  error(
    'service_unavailable',
    'the storage is out of reach, or the service has too much to do.',
    'the storage cannot be reached or does not answer in time: try again',
    { 'Retry-After': headerRef('RetryAfter'), ...headers },
  );

/** What can come of any operation. */
export const commonResponses = {
  401: responseRef('Unauthorized'),
  429: responseRef('TooManyRequests'),
  500: responseRef('InternalError'),
  503: responseRef('ServiceUnavailable'),
  default: responseRef('OtherError'),
};

/**
 * What the operations of the document refer to.
 *
 * @param basePath Where the operations' paths begin.
 */
export function components(basePath: string): object {
  return {
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
      NextLink: optional(
        header(
          'Present where there are more animals: where to get the next page (RFC 8288, `rel="next"`).',
          text,
          `<${basePath}/pets?limit=20&cursor=AQAAAAAAAAAU>; rel="next"`,
        ),
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
      RateLimit: optional(
        header(
          "What is left of the holder's quota, and the seconds until it is whole again (draft-ietf-httpapi-ratelimit-headers).",
          text,
          '"default";r=0;t=7',
        ),
      ),
      RateLimitPolicy: optional(header("The holder's quota and its time in seconds.", text, '"default";q=600;w=60')),
      Allow: optional(header('With 405: the methods that the path takes.', text, 'GET, HEAD')),
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
        'there is nothing at this path (a slash at the end makes another); the operations are at ' +
          `${basePath}/pets and ${basePath}/pets/{petId}`,
        { Allow: headerRef('Allow') },
      ),
    },
  };
}

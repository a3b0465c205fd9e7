import { stringify } from '@animal-store/exact-json';
import { type DescribedOperation, HEADERS, header, ref, sharedResponses, withHeaders } from './responses.ts';
import { SCHEMAS } from './schemas.ts';

/** The shared responses of every operation, by status. */
const SHARED = {
  401: 'Unauthorized',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  default: 'OtherError',
} as const;

const DESCRIPTION = `All data is JSON. Integers of format int64 use the whole range of 64 bits: read them with a parser that keeps their digits.

**Paging.** A list is a plain array. If there is more, the \`Link\` header field has the URL of the next page (\`rel="next"\`), relative to the URL of the request.

**Retries.** GET can be repeated. POST can be repeated if it carries an \`Idempotency-Key\`: the animal is added once. Retry a lost response, 408, 429, 500, 502, 503 and 504 with backoff, and after the time in \`Retry-After\` if there is one. The other errors stay until the request changes.

**Keys.** An API key is valid until it expires or an operator revokes it; after that new requests are rejected within 5 seconds.

**Request ids.** The \`X-Request-Id\` of a response is that of its request if this has one of up to 128 letters, digits and \`_.:/+=@-\`, else a new one.

HEAD works wherever GET does. Orders, categories, status transitions and events are not part of this interface.`;

/**
 * The OpenAPI document (version 3.1) of the service as JSON text.
 *
 * @param basePath Where the paths of the operations begin: `/v1`, without a trailing slash.
 */
export function openApiDocument(operations: readonly DescribedOperation[], basePath: string): string {
  const responses = sharedResponses([...new Set(operations.map(({ path }) => basePath + path))]);
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const { method, path } = operation;
    paths[path] = { ...paths[path], [method]: operationObject(operation, responses) };
  }
  return stringify({
    openapi: '3.1.0',
    info: {
      title: 'Animal Store',
      version: '1.0.0',
      summary: 'A catalogue of animals offered in a store.',
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: basePath, description: 'The service that returned this document' }],
    security: [{ apiKey: [] }],
    tags: [{ name: 'Pets', description: 'The catalogue' }],
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, sent as `Authorization: Bearer <API_KEY>`. Enter the key alone.',
        },
      },
      schemas: SCHEMAS,
      headers: HEADERS,
      responses: mapValues(responses, (response, name) => withHeaders(statusOf(name), response)),
    },
  });
}

/** The Operation Object with the responses that all share, and the operation's own header fields on each response. */
function operationObject(
  { headers = {}, description }: DescribedOperation,
  shared: ReturnType<typeof sharedResponses>,
) {
  const { responses, ...rest } = description;
  const own = mapValues(headers, ({ description, value }) => header(description, value));
  const hasOwn = Object.keys(own).length > 0;
  return {
    tags: ['Pets'],
    ...rest,
    responses: {
      ...mapValues(responses, (response, status) =>
        '$ref' in response ? response : withHeaders(status, response, own),
      ),
      ...mapValues(SHARED, (name, status) =>
        hasOwn && status !== 'default' ? withHeaders(status, shared[name], own) : ref('responses', name),
      ),
    },
  };
}

/** The status of a shared response. */
const statusOf = (name: string) => Object.entries(SHARED).find(([, each]) => each === name)?.[0] ?? 'default';

function mapValues<T, R>(object: Readonly<Record<string, T>>, map: (value: T, name: string) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value, name)]));
}

import { stringify } from '@animal-store/exact-json';
import type { Operation } from '../http/operation.ts';
import { header, type OperationDescription, type ResponseObject, responseRef } from './building-blocks.ts';
import { describePetOperations } from './pet-operations.ts';
import { petSchemas } from './pet-schemas.ts';
import {
  ErrorSchema,
  quotaHeaders,
  requestIdHeader,
  SHARED_RESPONSES,
  sharedHeaders,
  sharedResponses,
} from './shared-responses.ts';

const DESCRIPTION = `All data is JSON. Integers of format int64 use the whole range of 64 bits: read them with a parser that keeps their digits.

**Paging.** A list is a plain array. If there is more, the \`Link\` header field has the URL of the next page (\`rel="next"\`), relative to the URL of the request.

**Retries.** GET can be repeated. POST can be repeated if it carries an \`Idempotency-Key\`: the animal is added once. Retry 429 and 503 after the time in \`Retry-After\`, 408 and 500 with backoff; the other errors stay until the request changes.

**Keys.** An API key is valid until it expires or an operator revokes it; revoking takes effect within 10 seconds.

HEAD works wherever GET does. Orders, categories, status transitions and events are not part of this interface.`;

export interface DocumentParts {
  /** Where the paths of the operations begin for clients: a path, or an absolute URL. */
  readonly server: string;
  /** Where they begin in the service: `/v1`, without a trailing slash. */
  readonly basePath: string;
  readonly operations: readonly Operation[];
  /** The message of a 404 for a path that no operation has. */
  readonly notFoundMessage: string;
}

/**
 * The OpenAPI document (version 3.1) of the service as JSON text.
 *
 * @throws Error naming an operation that has no description.
 */
export function openApiDocument({ server, basePath, operations, notFoundMessage }: DocumentParts): string {
  const responses = sharedResponses(notFoundMessage);
  const paths: Record<string, Record<string, object>> = {};
  const descriptions = describePetOperations(basePath);
  for (const operation of operations) {
    const { method, path } = operation;
    const description = descriptions[path]?.[method];
    if (description === undefined) throw new Error(`no description of ${method} ${path}`);
    paths[path] = { ...paths[path], [method]: described(operation, description, responses) };
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
    servers: [{ url: server, description: 'The service that returned this document' }],
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
      schemas: { ...petSchemas, Error: ErrorSchema },
      headers: sharedHeaders,
      responses: Object.fromEntries(
        Object.entries(responses).map(([name, response]) => [name, withHeaders(response, requestIdHeader)]),
      ),
    },
  });
}

/** The Operation Object with the responses that all share, and the operation's own header fields on each response. */
function described(
  { headers: values = {} }: Operation,
  { headers = {}, ...description }: OperationDescription,
  shared: Record<string, ResponseObject>,
): object {
  const fixed = Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [name, header(text, values[name.toLowerCase()])]),
  );
  const own = Object.entries(description.responses).map(([status, response]) => {
    if ('$ref' in response) return [status, response];
    // A quota is counted for a valid key only, and an error before that has none.
    const quota = status.startsWith('2') ? quotaHeaders : {};
    return [status, withHeaders(response, { ...fixed, ...quota, ...requestIdHeader })];
  });
  const others = Object.entries(SHARED_RESPONSES).map(([status, name]) => {
    const hasOwn = Object.keys(fixed).length > 0 && status !== 'default';
    return [
      status,
      hasOwn ? withHeaders(shared[name] as ResponseObject, { ...fixed, ...requestIdHeader }) : responseRef(name),
    ];
  });
  return { ...description, responses: Object.fromEntries([...own, ...others]) };
}

function withHeaders(response: ResponseObject, headers: object): ResponseObject {
  return { ...response, headers: { ...response.headers, ...headers } };
}

import { ERROR_STATUS, type ErrorCode } from '../http/http-error.ts';
import type { Operation } from '../http/operation.ts';

/** Header Objects (OpenAPI 3.1.1, section 4.8.21) by the name of the field. */
export type HeaderObjects = Readonly<Record<string, object>>;

/** A Response Object (section 4.8.17). */
export interface ResponseObject {
  readonly description: string;
  readonly headers?: HeaderObjects;
  readonly content?: object;
}

/** What the document says of an operation. */
export interface OperationDescription {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  readonly parameters: readonly object[];
  readonly requestBody?: object;
  /** Header fields that each of its responses has, by name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Without the responses and header fields that all operations share. */
  readonly responses: Readonly<Record<string, ResponseObject | { readonly $ref: string }>>;
}

/** The descriptions of operations by path and method, as in a Paths Object (section 4.8.8). */
export type OperationDescriptions = Readonly<
  Record<string, Partial<Readonly<Record<Operation['method'], OperationDescription>>>>
>;

export const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });
export const responseRef = (name: string) => ({ $ref: `#/components/responses/${name}` });
export const headerRef = (name: string) => ({ $ref: `#/components/headers/${name}` });

const STRING = { type: 'string' };

/** A header field that is present on every response that lists it. */
export function header(description: string, example?: string, schema: object = STRING) {
  return { description, required: true, schema, example };
}

/** A header field that may be absent. */
export function optionalHeader(description: string, example?: string, schema: object = STRING) {
  return { ...header(description, example, schema), required: false };
}

/** A JSON body whose schema is a component. */
export function jsonContent(schema: string, example: unknown) {
  return { 'application/json': { schema: schemaRef(schema), example } };
}

/** A response with an Error body. `message` is that of the example, as the service words it. */
export function errorResponseObject(
  code: ErrorCode,
  description: string,
  message: string,
  headers: HeaderObjects = {},
): ResponseObject {
  return {
    description: `${code}: ${description}`,
    headers,
    content: jsonContent('Error', { code, message, status: ERROR_STATUS[code] }),
  };
}

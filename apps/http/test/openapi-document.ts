/** What tests read of an OpenAPI document. */

export type Json = Readonly<Record<string, unknown>>;
export type Reference = { readonly $ref: string };

export interface ResponseObject {
  readonly description?: string;
  readonly headers?: Readonly<Record<string, Json | Reference>>;
  readonly content?: Readonly<Record<string, { readonly schema: object; readonly example?: unknown }>>;
}

export interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  readonly parameters: readonly { name: string; in: string; required?: boolean; schema: Json }[];
  readonly requestBody?: { readonly required: boolean };
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>;
}

export interface Document {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly security: readonly Json[];
  readonly tags: readonly { readonly name: string }[];
  readonly components: Readonly<Record<string, Readonly<Record<string, Json>>>>;
}

export const operationsOf = ({ paths }: Document) => Object.values(paths).flatMap((methods) => Object.values(methods));

export const isReference = (value: unknown): value is Reference =>
  typeof value === 'object' && value !== null && '$ref' in value;

/** Follows a reference within the document. */
export function resolve<T>(document: Document, value: T | Reference): T {
  if (!isReference(value)) return value;
  const [, ...path] = value.$ref.split('/');
  return path.reduce<unknown>((at, name) => (at as Json)[name], document) as T;
}

import { LIMITS } from '@animal-store/domain';
import { Validator } from '@seriousme/openapi-schema-validator';
import Schema from 'typebox/schema';
import { describe, expect, test } from 'vitest';
import { type Document, isReference, type Json, operationsOf, resolve } from '../../../test/openapi-document.ts';
import { OPERATIONS } from '../app.ts';
import { ERROR_STATUS } from '../errors.ts';
import type { OperationDependencies } from '../pets/operation.ts';
import { openApiDocument } from './document.ts';

const operations = OPERATIONS.map((make) => make({ basePath: '/v1' } as OperationDependencies));

/** The document of a service. */
function read(): { text: string; document: Document } {
  const text = openApiDocument(operations, '/v1');
  return { text, document: JSON.parse(text) };
}

/** Each value of the document, and where it is. */
function* valuesOf(value: unknown, at = ''): Generator<readonly [string, unknown]> {
  yield [at, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    yield* valuesOf(member, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1', async () => {
    const { document } = read();
    expect(document.openapi).toMatch(/^3\.1\./);
    const result = await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>);
    expect(result).toMatchObject({ valid: true });
  });

  test('has examples that match their schemas', () => {
    const { document } = read();
    let examples = 0;
    for (const [at, value] of valuesOf(document)) {
      if (typeof value !== 'object' || value === null || !('schema' in value && 'example' in value)) continue;
      examples += 1;
      const schema = Schema.Compile({ ...(value.schema as object), components: document.components } as object);
      expect(schema.Check(value.example), at).toBe(true);
      expect(value.example).not.toEqual([]);
    }
    expect(examples).toBeGreaterThan(8);
    // Generators for TypeScript and mock servers can't hold the extremes of 64 bits.
    expect(JSON.stringify(document)).not.toMatch(/"example":[^}]*\d{16}/);
  });

  test('names each error code in the description of a response', () => {
    const descriptions = operationsOf(read().document).flatMap(({ responses }) =>
      Object.values(responses).map((response) => (resolve(read().document, response) as Json)['description']),
    );
    for (const code of Object.keys(ERROR_STATUS)) expect(descriptions.join('\n')).toMatch(new RegExp(`\\b${code}\\b`));
  });

  test('refers to each of its components, and to no others', () => {
    const { document } = read();
    const references = [...valuesOf(document)].flatMap(([, value]) => (isReference(value) ? [value] : []));
    for (const reference of references) expect(Object.keys(reference)).toEqual(['$ref']);
    const components = ['schemas', 'headers', 'responses'].flatMap((kind) =>
      Object.keys(document.components[kind] as object).map((name) => `#/components/${kind}/${name}`),
    );
    expect([...new Set(references.map(({ $ref }) => $ref))].sort()).toEqual(components.sort());
  });

  test('has the members of pets and errors', () => {
    const { text, document } = read();
    const members = Object.entries(document.components['schemas'] ?? {}).flatMap(([name, { required, properties }]) =>
      properties === undefined ? [] : [[name, required, Object.keys(properties as object)]],
    );
    expect(members).toEqual([
      ['NewPet', ['name', 'categoryId'], ['name', 'categoryId', 'status']],
      ['Pet', ['id', 'name', 'categoryId'], ['id', 'name', 'categoryId', 'status']],
      ['Error', ['code', 'message', 'status'], ['code', 'message', 'status']],
    ]);
    expect(document.components['schemas']?.['Error']).toMatchObject({
      additionalProperties: false,
      properties: { code: { enum: Object.keys(ERROR_STATUS) } },
    });
    // The bounds digit for digit, which JSON.parse has rounded above.
    for (const bounds of ['-9223372036854775808,"maximum":9223372036854775807', '1,"maximum":9007199254740991']) {
      expect(text).toContain(`"format":"int64","minimum":${bounds}`);
    }
  });

  test('asks for an API key', () => {
    const { security, components } = read().document;
    expect(security).toEqual([{ apiKey: [] }]);
    expect(components['securitySchemes']).toMatchObject({ apiKey: { type: 'http', scheme: 'bearer' } });
  });

  test('has examples with the base path', () => {
    const { text } = read();
    for (const example of ['</v1/pets?limit=20&', '"/v1/pets/1"', '</v1/pets>;']) expect(text).toContain(example);
  });
});

describe('an operation of the document', () => {
  test('has the tag of the document', () => {
    const { document } = read();
    const tags = document.tags.map(({ name }) => name);
    expect(operationsOf(document).map((operation) => operation.tags)).toEqual([tags, tags, tags]);
  });

  test('says when it is removed', () => {
    expect(read().text).toContain('Returns one animal. Removed on 5 December 2030: use');
  });

  test('has the parameters that it takes', () => {
    const { text, document } = read();
    const required = operationsOf(document).map(({ operationId, deprecated, parameters, requestBody }) => [
      operationId,
      deprecated,
      ...parameters.map(({ name, in: place, required }) => `${name} in ${place}${required ? ', required' : ''}`),
      ...(requestBody?.required ? ['body, required'] : []),
    ]);
    expect(required).toEqual([
      ['listPets', undefined, 'limit in query', 'status in query', 'cursor in query'],
      ['createPet', undefined, 'Idempotency-Key in header', 'body, required'],
      ['getPet', true, 'petId in path, required'],
    ]);
    const schemas = operationsOf(document).flatMap(({ parameters }) => parameters.map(({ schema }) => schema));
    expect(schemas).toMatchObject([
      { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      { $ref: '#/components/schemas/PetStatus' },
      { type: 'string' },
      { type: 'string', minLength: 1, maxLength: 255, pattern: LIMITS.idempotencyKey.pattern.source },
      { type: 'integer', format: 'int64', minimum: 1 },
    ]);
    // Digit for digit, which JSON.parse has rounded.
    expect(text).toContain('"format":"int64","minimum":1,"maximum":9223372036854775807');
    const routes = Object.entries(document.paths).map(([path, methods]) => [path, Object.keys(methods)]);
    expect(routes).toEqual([
      ['/pets', ['get', 'post']],
      ['/pets/{petId}', ['get']],
    ]);
  });
});

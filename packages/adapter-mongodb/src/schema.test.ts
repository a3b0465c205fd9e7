import { readFileSync } from 'node:fs';
import { LIMITS } from '@animal-store/domain';
import { BSON } from 'mongodb';
import { expect, test, vi } from 'vitest';

const format1 = BSON.EJSON.parse(readFileSync(new URL('../test/fixtures/format-1.json', import.meta.url), 'utf8'), {
  relaxed: false,
  useBigInt64: true,
}) as Readonly<Record<string, { options: { validator: object } }>>;

test('the schemas stay those of format 1 when the limits of the domain change', async () => {
  const name = { ...LIMITS.name, maxLength: 150, pattern: /x/ };
  const id = { ...LIMITS.id, min: 5n, maxAssigned: 7n };
  const limits = { ...LIMITS, name, id, idempotencyKey: { maxLength: 64, pattern: /x/ } };
  vi.doMock('@animal-store/domain', async (original) => ({
    ...(await original<object>()),
    ...{ LIMITS: limits, PET_STATUSES: ['sold'] },
  }));
  const { SCHEMAS } = await import('./schema.ts');
  for (const [collection, { options }] of Object.entries(format1)) {
    const $jsonSchema = { title: 'format 1', ...SCHEMAS[collection] };
    expect(BSON.EJSON.serialize({ $jsonSchema }, { relaxed: false })).toEqual(
      BSON.EJSON.serialize(options.validator, { relaxed: false }),
    );
  }
});

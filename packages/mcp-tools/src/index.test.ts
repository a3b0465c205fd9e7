import { createMemoryStorage } from '@animal-store/adapter-memory';
import { createCatalogue, DomainError, type NewPet, type PetQuery } from '@animal-store/domain';
import type { PetRepository } from '@animal-store/domain/ports';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMcpServer } from './index.ts';

/** A client of a server in this process. */
async function connect(pets: PetRepository = createMemoryStorage().pets) {
  const reported: unknown[] = [];
  const onCall = (_: string, error: unknown) => error !== undefined && reported.push(error);
  const catalogue = createCatalogue(pets);
  const server = createMcpServer({ catalogue, holder: 'a test', version: '1.2.3', storage: 'a test', onCall });
  const client = new Client({ name: 'test', version: '1.0.0' });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  onTestFinished(() => client.close());
  // The client checks results only against schemas that it knows.
  const { tools } = await client.listTools();
  const call = async (name: string, given: Record<string, unknown>) => {
    const { isError = false, structuredContent, content } = await client.callTool({ name, arguments: given });
    const [text] = content as { text: string }[];
    if (isError) return { error: text?.text };
    // For clients without structured content.
    expect(JSON.parse(text?.text ?? '')).toEqual(structuredContent);
    return structuredContent;
  };
  return { client, tools, call, reported };
}

const HINTS = { destructiveHint: false, openWorldHint: false };
const rex = { name: 'Rex', categoryId: '9223372036854775807', status: 'available' } satisfies Record<
  keyof NewPet,
  string
>;

describe('createMcpServer', () => {
  test('lists its tools with schemas of single types, which every client and model understands', async () => {
    const { client, tools } = await connect();
    expect(tools.map(({ name, title, annotations }) => [name, title, annotations])).toEqual([
      ['list_pets', 'List animals', { ...HINTS, readOnlyHint: true, idempotentHint: true }],
      ['create_pet', 'Add an animal', { ...HINTS, readOnlyHint: false, idempotentHint: false }],
      ['get_pet', 'Get an animal', { ...HINTS, readOnlyHint: true, idempotentHint: true }],
    ]);
    for (const { inputSchema, outputSchema } of tools) {
      // Clients would reject what was stored under other bounds.
      expect(JSON.stringify(outputSchema)).not.toMatch(
        /"(?:pattern|(?:exclusive)?(?:min|max)\w*|multipleOf|uniqueItems)":/i,
      );
      for (const schema of [inputSchema, outputSchema]) {
        expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
        expect(JSON.stringify(schema)).not.toMatch(/"type":\[|Of":/);
      }
    }
    const required = tools.map(({ inputSchema, outputSchema }) => [inputSchema.required, outputSchema?.['required']]);
    const PET = ['id', 'name', 'categoryId'];
    expect(required).toEqual([
      [[], ['pets']],
      [['name', 'categoryId'], PET],
      [['id'], PET],
    ]);
    expect(client.getServerVersion()).toEqual({ name: 'animal-store', title: 'Animal Store', version: '1.2.3' });
    expect(client.getServerCapabilities()).toEqual({ tools: { listChanged: false } });
    expect(client.getInstructions()).toMatch(/64-bit integers.* Storage: a test\./);
  });

  test('creates, gets and lists pets, with 64-bit integers digit for digit', async () => {
    const { call, client } = await connect();
    expect(await call('create_pet', rex)).toEqual({ id: '1', ...rex });
    const max = { id: '2', name: 'Max', categoryId: '-7' };
    expect(await call('create_pet', { name: 'Max', categoryId: '-7' })).toEqual(max);
    for (const id of ['1', 1]) expect(await call('get_pet', { id })).toEqual({ id: '1', ...rex });
    expect((await client.callTool({ name: 'list_pets' })).structuredContent).toEqual({
      pets: [{ id: '1', ...rex }, max],
    });
    expect(await call('list_pets', { limit: 1 })).toEqual({ pets: [{ id: '1', ...rex }], next: '1' });
    expect(await call('list_pets', { after: '1' })).toEqual({ pets: [max] });
    const selection = { after: '0', status: 'available' } satisfies Record<Exclude<keyof PetQuery, 'limit'>, string>;
    expect(await call('list_pets', selection)).toEqual({ pets: [{ id: '1', ...rex }] });
  });

  test('returns stored pets that a creation would reject today', async () => {
    const { pets } = createMemoryStorage();
    const stored = ['x'.repeat(201), '\u001c', ' '].map((name) => ({ name, categoryId: 2n ** 63n }));
    for (const pet of stored) await pets.add(pet);
    const { call } = await connect(pets);
    const expected = stored.map(({ name }, index) => ({ id: `${index + 1}`, name, categoryId: String(2n ** 63n) }));
    expect(await call('list_pets', {})).toEqual({ pets: expected });
    expect(await call('get_pet', { id: '1' })).toEqual(expected[0]);
  });

  test('creates one pet for an idempotency key', async () => {
    const { call } = await connect();
    const given = { ...rex, idempotencyKey: 'k' };
    for (const repeated of [given, given]) expect(await call('create_pet', repeated)).toEqual({ id: '1', ...rex });
    const error = expect.stringMatching(/^this idempotency key was used for another pet/);
    expect(await call('create_pet', { ...given, name: 'Max' })).toEqual({ error });
  });

  test.each<[string, object, string | RegExp]>([
    ['list_pets', { cursor: '2' }, 'list_pets has no argument "cursor", only limit, status, after'],
    ['list_pets', { limit: 101 }, 'limit must be an integer from 1 to 100, was 101'],
    ['list_pets', { after: '-1' }, 'after must be an id or 0, was -1'],
    ['list_pets', { after: '9223372036854775808' }, 'after must be an id or 0, was 9223372036854775808'],
    ['create_pet', {}, 'name is required; categoryId is required'],
    ['create_pet', { ...rex, constructor: 1 }, 'create_pet has no argument "constructor", only name,'],
    ['create_pet', { ...rex, categoryId: 2 ** 53 }, 'a string of decimal digits, was the number 9007199254740992'],
    ['create_pet', { ...rex, categoryId: 7.5 }, 'categoryId must be a string of decimal digits, was the number 7.5'],
    ['create_pet', { ...rex, categoryId: '0x7' }, 'categoryId must be a string of decimal digits, was "0x7"'],
    ['create_pet', { ...rex, categoryId: '' }, 'categoryId must be a string of decimal digits, was ""'],
    ['create_pet', { name: ' ', categoryId: '9223372036854775808' }, 'white space; categoryId must be an integer from'],
    [
      'create_pet',
      { name: ' ', categoryId: 'x', status: 'lost', idempotencyKey: '' },
      /white space; categoryId must be a string of decimal digits, was "x"; status must be .*; the idempotency key must be/,
    ],
    ['list_pets', { limit: 0, after: 'x' }, /^limit must be .*; after must be a string of decimal digits, was "x"$/],
    ['create_pet', { ...rex, status: 'lost' }, 'status must be one of available, pending, sold, was "lost"'],
    ['create_pet', { ...rex, idempotencyKey: 'a b' }, 'the idempotency key must be 1 to 255 visible ASCII'],
    ['get_pet', {}, 'id must be an integer, was missing'],
    ['get_pet', { id: null }, 'id must be a string of decimal digits, was null'],
    ['get_pet', { id: '9'.repeat(50) }, /^no pet has the id 9{40}…$/],
  ])('%s rejects %j and names the argument, the rule and the value', async (tool, given, message) => {
    const { call } = await connect();
    expect(await call(tool, { ...given })).toEqual({ error: expect.stringMatching(message) });
    expect(await call('list_pets', {})).toEqual({ pets: [] });
  });

  test.each([
    ['of the storage', new DomainError('storage_unavailable', 'try again', { cause: new Error('down') }), 'try again'],
    ['that is unexpected', new TypeError('a defect'), 'unexpected error in the service; it has been logged'],
  ])('reports an error %s to the operator, and tells the client what is for it', async (_, error, message) => {
    const fail = async () => {
      throw error;
    };
    const { call, reported } = await connect({ add: fail, find: fail, list: fail });
    expect(await call('list_pets', {})).toEqual({ error: message });
    expect(reported).toEqual([error]);
  });
});

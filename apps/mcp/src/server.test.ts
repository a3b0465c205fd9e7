import { DomainError } from '@animal-store/domain';
import { createAwaitableCatalogue } from '@animal-store/domain/transport';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { expect, onTestFinished, test } from 'vitest';
import { createServer } from './server.ts';

test.each([
  ['of the storage', new DomainError('storage_unavailable', 'try again', { cause: new Error('refused') }), 'try again'],
  ['that is unexpected', new TypeError('a defect'), 'unexpected error in the service; it has been logged'],
])('reports an error %s to the operator, and tells the client what is for it', async (_, error, message) => {
  const fail = () => {
    throw error;
  };
  const reported: unknown[] = [];
  const catalogue = createAwaitableCatalogue({ add: fail, find: fail, list: fail });
  const server = createServer({
    catalogue,
    description: 'a test',
    calls: new Set(),
    reportError: (each) => reported.push(each),
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  onTestFinished(() => client.close());
  const { content, isError } = await client.callTool({ name: 'list_pets', arguments: {} });
  expect([content, isError]).toEqual([[{ type: 'text', text: message }], true]);
  expect(reported).toEqual([error]);
});

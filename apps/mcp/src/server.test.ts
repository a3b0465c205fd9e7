import { DomainError } from '@animal-store/domain';
import { createAwaitableCatalogue } from '@animal-store/domain/transport';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createServer } from './server.ts';

test('tells the operator why the storage is unavailable, at most once a minute', async () => {
  const unavailable = () => {
    throw new DomainError('storage_unavailable', 'try again', { cause: new Error('connection refused') });
  };
  const catalogue = createAwaitableCatalogue({ add: unavailable, find: unavailable, list: unavailable });
  const client = new Client({ name: 'test', version: '1.0.0' });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([createServer(catalogue, new Set()).connect(far), client.connect(near)]);
  onTestFinished(() => client.close());
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => written.mockRestore());
  for (let count = 0; count < 2; count += 1) {
    const { content, isError } = await client.callTool({ name: 'list_pets', arguments: {} });
    expect([content, isError]).toEqual([[{ type: 'text', text: 'try again' }], true]);
  }
  expect(written.mock.calls).toEqual([['animal-store-mcp: the storage is unavailable: connection refused\n']]);
});

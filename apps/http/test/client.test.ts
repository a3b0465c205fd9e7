import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import { createClient, type ErrorCode, type Pet } from '@animal-store/client';
import { describe, expect, expectTypeOf, onTestFinished, test, vi } from 'vitest';
import type { ErrorCode as ServiceErrorCode } from '../src/app/errors.ts';
import { describeInBrowser, HOST } from './browser.ts';
import { KEY, startService } from './service.ts';

const INT64_MAX = 9223372036854775807n;

test('the client has the codes of the service and two more', () => {
  expectTypeOf<ErrorCode>().toEqualTypeOf<ServiceErrorCode | 'no_response' | 'unexpected_response'>();
});

describe('the client', () => {
  async function start() {
    const { port } = await startService();
    const onDeprecation = vi.fn();
    return { client: createClient({ url: `http://127.0.0.1:${port}/v1`, key: KEY, onDeprecation }), onDeprecation };
  }

  test('creates, reads and lists pets with exact integers', async () => {
    const { client, onDeprecation } = await start();
    const newPets = [
      { name: 'Rex', categoryId: INT64_MAX, status: 'sold' },
      { name: 'Мурка', categoryId: -INT64_MAX - 1n },
    ] as const;
    const created = [await client.createPet(newPets[0]), await client.createPet(newPets[1])];
    expect(created).toMatchObject(newPets);
    expect(await client.getPet(created[1]?.id as bigint)).toEqual(created[1]);
    expect(onDeprecation).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('05 Dec 2030'));
    expect(await client.listPets({ status: 'sold' })).toEqual({ pets: [created[0]], next: null });
    const all: Pet[] = [];
    for await (const pet of client.allPets()) all.push(pet);
    expect(all).toEqual(created);
    const { next } = await client.listPets({ limit: 1 });
    expect(await client.listPets({ cursor: next })).toEqual({ pets: [created[1]], next: null });
  });
});

describeInBrowser('the client', (openContext) => {
  const SOURCES = new URL('../../../packages/', import.meta.url);
  const IMPORT_MAP = { imports: { '@animal-store/exact-json': '/exact-json/src/index.ts' } };

  /** A site whose scripts are the sources of the client without their types. */
  async function startSite(): Promise<string> {
    const site = createServer(({ url = '' }, response) => {
      const file = /^\/((?:client|exact-json)\/src\/[\w-]+\.ts)$/.exec(url)?.[1];
      response.setHeader('content-type', file === undefined ? 'text/html' : 'text/javascript');
      if (file === undefined) response.end(`<script type="importmap">${JSON.stringify(IMPORT_MAP)}</script>`);
      else response.end(stripTypeScriptTypes(readFileSync(new URL(file, SOURCES), 'utf8')));
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void site.close());
    return `http://${HOST}:${(site.address() as AddressInfo).port}`;
  }

  test('calls a service of another origin with exact integers', async () => {
    const site = await startSite();
    const { port } = await startService({ CORS_ORIGINS: site });
    const page = await (await openContext()).newPage();
    await page.goto(site);
    const program = `(async () => {
      const { createClient } = await import('/client/src/index.ts');
      const client = createClient({ url: 'http://${HOST}:${port}/v1', key: '${KEY}' });
      for (const name of ['Rex', 'Max']) await client.createPet({ name, categoryId: ${INT64_MAX}n });
      const { pets, next } = await client.listPets({ limit: 1 });
      for await (const pet of client.allPets({ cursor: next })) pets.push(pet);
      const { code, requestId } = await client.listPets({ limit: 0 }).catch((error) => error);
      return [pets.map((pet) => pet.name + pet.categoryId), code, requestId.length];
    })()`;
    expect(await page.evaluate(program)).toEqual([
      ['Rex', 'Max'].map((name) => name + INT64_MAX),
      'invalid_request',
      36,
    ]);
  });
});

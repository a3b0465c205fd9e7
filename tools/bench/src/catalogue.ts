import { bytesOf, sendRequests } from './client.ts';
import type { Server } from './server.ts';
import { newPet, type Operation } from './workloads.ts';

const FILL_CONNECTIONS = 64;

/** Creates pets, and returns their ids. Throws an Error if the server creates none. */
export async function fill(server: Server, count: number): Promise<string[]> {
  const { name, url, api, headers } = server;
  const requests = Array.from({ length: 200 }, (_, number) =>
    bytesOf(api({ kind: 'create', pet: newPet(number) }), headers),
  );
  const ids: string[] = [];
  // A server that sheds load creates fewer than it is asked for.
  while (ids.length < count) {
    const before = ids.length;
    let sent = before;
    await sendRequests({
      url,
      connections: Math.min(FILL_CONNECTIONS, count - before),
      next: () => (sent < count ? (requests[sent++ % requests.length] as Buffer) : null),
      onResponse(_status, _milliseconds, body) {
        const id = /"id":\s*"?(\w+)/.exec(body.toString())?.[1];
        if (id !== undefined) ids.push(id);
      },
    });
    if (ids.length === before) throw new Error(`${name} creates no pets`);
  }
  return ids;
}

/** Sends one request. */
export function send({ url, api, headers }: Server, operation: Operation): Promise<Response> {
  const { method, path, body } = api(operation);
  return fetch(url + path, { method, headers, ...(body && { body }) });
}

/**
 * Makes sure that a server does the same work as the others, before it is measured.
 *
 * @param id The id of one of its pets.
 * @throws Error If a response is not the one that the operation asks for.
 */
export async function verify(server: Server, id: string): Promise<void> {
  const expectAll = async (operation: Operation, count: number, isRight: (pet: Record<string, unknown>) => boolean) => {
    const body = (await (await send(server, operation)).json()) as Record<string, unknown>;
    // PocketBase wraps its lists.
    const pets = [body['items'] ?? body].flat() as Record<string, unknown>[];
    if (pets.length === count && pets.every(isRight)) return;
    throw new Error(`${server.name} does not respond to "${operation.kind}" as the others do`);
  };
  await expectAll({ kind: 'get', id }, 1, (pet) => String(pet['id']) === id);
  await expectAll({ kind: 'list', limit: 20 }, 20, ({ name }) => typeof name === 'string');
  await expectAll({ kind: 'list', limit: 100, status: 'sold' }, 100, ({ status }) => status === 'sold');
  await expectAll({ kind: 'create', pet: newPet(0) }, 1, (pet) => pet['id'] !== undefined);
}

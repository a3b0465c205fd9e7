import type { Server } from './server.ts';
import type { Operation } from './workloads.ts';

/**
 * Makes sure that a server does the same work as the others, before it is measured.
 *
 * @param id That of a pet that it has.
 * @throws Error If a response is not the one that the operation asks for.
 */
export async function verify(server: Server, id: string): Promise<void> {
  const request = async (operation: Operation): Promise<unknown> => {
    const { method, path, body } = server.api(operation);
    const response = await fetch(server.url + path, { method, headers: server.headers, ...(body && { body }) });
    return response.json();
  };
  const listed = async (limit: number, status?: 'sold'): Promise<Record<string, unknown>[]> => {
    const body = await request({ kind: 'list', limit, ...(status && { status }) });
    // PocketBase wraps its lists.
    return Array.isArray(body) ? body : (body as { items: Record<string, unknown>[] }).items;
  };
  const pet = { name: 'Rex', categoryId: 7, status: 'sold' } as const;
  const wrong = (operation: string) => new Error(`${server.name} does not respond to "${operation}" as the others do`);

  if (String(((await request({ kind: 'get', id })) as { id: unknown }).id) !== id) throw wrong('get one');
  if ((await listed(20)).length !== 20) throw wrong('list 20');
  const sold = await listed(100, 'sold');
  if (sold.length !== 100 || sold.some(({ status }) => status !== 'sold')) throw wrong('list 100 by status');
  const created = (await request({ kind: 'create', pet })) as Record<string, unknown>;
  if (created['name'] !== pet.name || created['id'] === undefined) throw wrong('create');
}

import type autocannon from 'autocannon';
import { KEY } from './peers/catalogue.ts';
import type { Server } from './server-process.ts';

const authorization = { authorization: `Bearer ${KEY}` };
const json = { ...authorization, 'content-type': 'application/json' };
const rex = '{"name":"Rex","categoryId":7,"status":"available"}';

/** What is asked of every server, in turn. @param id That of an animal which the server has. */
export const scenarios: Record<string, (id: number) => autocannon.Request> = {
  'get one': (id) => ({ method: 'GET', path: `/v1/pets/${id}`, headers: authorization }),
  'list 20': () => ({ method: 'GET', path: '/v1/pets', headers: authorization }),
  'list 100': () => ({ method: 'GET', path: '/v1/pets?limit=100', headers: authorization }),
  'list 20 by status': () => ({ method: 'GET', path: '/v1/pets?status=sold', headers: authorization }),
  add: () => ({ method: 'POST', path: '/v1/pets', headers: json, body: rex }),
};

const ANIMALS = 10_000;

/** Adds 10,000 animals, a quarter of them with each status and a quarter without. @returns The id of one. */
export async function fill({ url }: Server): Promise<number> {
  const status = ['available', 'pending', 'sold', undefined];
  let added = { id: 0 };
  for (let count = 0; count < ANIMALS; count += 50) {
    await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const body = JSON.stringify({ name: `Rex ${count + index}`, categoryId: 7, status: status[index % 4] });
        const answer = await fetch(`${url}/v1/pets`, { method: 'POST', headers: json, body });
        added = (await answer.json()) as typeof added;
      }),
    );
  }
  return added.id;
}

/** The upper one of the two in the middle where their number is even. */
export const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

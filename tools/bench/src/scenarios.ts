import type autocannon from 'autocannon';
import { KEY } from './peers/catalogue.ts';
import type { Server } from './server-process.ts';

const authorization = { authorization: `Bearer ${KEY}` };
const json = { ...authorization, 'content-type': 'application/json' };
const rex = '{"name":"Rex","categoryId":7,"status":"available"}';

/** What is asked of every server, in turn. @param ids Those of animals which the server has. */
export const scenarios: Record<string, (ids: readonly number[]) => autocannon.Request> = {
  'get one': (ids) => {
    let turn = 0;
    // Those that are asked for at once are different ones.
    const next = () => `/v1/pets/${ids[(turn++ * 7_919) % ids.length]}`;
    return { method: 'GET', headers: authorization, setupRequest: (request) => ({ ...request, path: next() }) };
  },
  'list 20': () => ({ method: 'GET', path: '/v1/pets', headers: authorization }),
  'list 100': () => ({ method: 'GET', path: '/v1/pets?limit=100', headers: authorization }),
  'list 20 by status': () => ({ method: 'GET', path: '/v1/pets?status=sold', headers: authorization }),
  add: () => ({ method: 'POST', path: '/v1/pets', headers: json, body: rex }),
};

const ANIMALS = 10_000;

/** Adds 10,000 animals, a quarter of them with each status and a quarter without. @returns Their ids. */
export async function fill({ url }: Server): Promise<number[]> {
  const status = ['available', 'pending', 'sold', undefined];
  const ids: number[] = [];
  for (let count = 0; count < ANIMALS; count += 50) {
    await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const body = JSON.stringify({ name: `Rex ${count + index}`, categoryId: 7, status: status[index % 4] });
        const answer = await fetch(`${url}/v1/pets`, { method: 'POST', headers: json, body });
        ids.push(((await answer.json()) as { id: number }).id);
      }),
    );
  }
  return ids;
}

/** The upper one of the two in the middle where their number is even. */
export const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

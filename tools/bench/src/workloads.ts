const STATUSES = ['available', 'pending', 'sold'] as const;

export interface NewPet {
  readonly name: string;
  readonly categoryId: number;
  readonly status?: (typeof STATUSES)[number];
}

/** One request, independent of the server's interface. */
export type Operation =
  | { readonly kind: 'get'; readonly id: string }
  | { readonly kind: 'list'; readonly limit: number; readonly status?: NewPet['status'] }
  | { readonly kind: 'create'; readonly pet: NewPet };

/** Chooses an operation, by its number in a run, on a server that has pets with these ids. */
export type Workload = (number: number, ids: readonly string[]) => Operation;

/** A prime: its multiples lead to every id, far from the one before. */
const STRIDE = 7_919;

/** A quarter of all pets has each status, a quarter has none. */
export function newPet(number: number): NewPet {
  const status = STATUSES[number % 4];
  return { name: `Rex ${number}`, categoryId: 7, ...(status && { status }) };
}

/** The workload that creates pets comes last, so that the others find the same pets on each server. */
export const WORKLOADS = {
  'get one': (number, ids) => ({ kind: 'get', id: ids[(number * STRIDE) % ids.length] as string }),
  'list 20': () => ({ kind: 'list', limit: 20 }),
  'list 100 by status': () => ({ kind: 'list', limit: 100, status: 'sold' }),
  create: (number) => ({ kind: 'create', pet: newPet(number) }),
} satisfies Record<string, Workload>;

export type WorkloadName = keyof typeof WORKLOADS;

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

/** Converts an operation to the request of a server. */
export type Api = (operation: Operation) => HttpRequest;

/** An API whose list takes a limit and a status in its query string, under names of its own. */
function restApi(path: string, listQuery: (limit: number, status: string | undefined) => string): Api {
  return (operation) => {
    switch (operation.kind) {
      case 'get':
        return { method: 'GET', path: `${path}/${operation.id}` };
      case 'list':
        return { method: 'GET', path: `${path}?${listQuery(operation.limit, operation.status)}` };
      case 'create':
        return { method: 'POST', path, body: JSON.stringify(operation.pet) };
    }
  };
}

/** The interface of the Animal Store. */
export const animalStoreApi = restApi('/v1/pets', (limit, status) =>
  status === undefined ? `limit=${limit}` : `limit=${limit}&status=${status}`,
);

/** `skipTotal` spares PocketBase the count of all records, as its documentation advises. */
export const pocketBaseApi = restApi('/api/collections/pets/records', (limit, status) => {
  const query = `perPage=${limit}&skipTotal=1`;
  return status === undefined ? query : `${query}&filter=${encodeURIComponent(`status='${status}'`)}`;
});

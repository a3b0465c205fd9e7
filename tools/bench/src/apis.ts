import type { Operation } from './workloads.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

/** How a server is asked for an operation. */
export type Api = (operation: Operation) => HttpRequest;

/** An API whose list takes a limit and a status in its query string, under names of its own. */
function restApi(path: string, listQuery: (limit: number, status: string | undefined) => string): Api {
  return (operation) => {
    switch (operation.kind) {
      case 'get':
        return { method: 'GET', path: `${path}/${operation.id}` };
      case 'list':
        return { method: 'GET', path: `${path}?${listQuery(operation.limit, operation.status)}` };
      case 'page':
        return { method: 'GET', path: operation.path };
      case 'create':
        return { method: 'POST', path, body: JSON.stringify(operation.pet) };
    }
  };
}

/** The interface of the Animal Store. */
export const animalStoreApi = restApi('/v1/pets', (limit, status) =>
  status === undefined ? `limit=${limit}` : `limit=${limit}&status=${status}`,
);

export const jsonServerApi = restApi('/pets', (limit, status) =>
  status === undefined ? `_limit=${limit}` : `_limit=${limit}&status=${status}`,
);

/** `skipTotal` spares PocketBase the count of all records, as its documentation advises. */
export const pocketBaseApi = restApi('/api/collections/pets/records', (limit, status) => {
  const query = `perPage=${limit}&skipTotal=1`;
  return status === undefined ? query : `${query}&filter=${encodeURIComponent(`status='${status}'`)}`;
});

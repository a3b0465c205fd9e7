import type { Server } from './server.ts';
import type { Workload } from './workloads.ts';

/** What the pages of all pets hold: some of it, taken evenly. */
export interface Pages {
  /** The paths of pages. */
  readonly paths: readonly string[];
  /** Ids of pets. */
  readonly ids: readonly string[];
}

/**
 * Follows the links from the first page of 100 pets to the last one.
 *
 * @param pets About as many as the server has.
 * @param keep How many paths and ids are returned, about.
 */
export async function pagesOf(
  { url, headers }: Server,
  pets: number,
  keep: { readonly paths: number; readonly ids: number },
): Promise<Pages> {
  const everyPage = Math.ceil(pets / 100 / keep.paths);
  const everyPet = Math.ceil(pets / keep.ids);
  const paths: string[] = [];
  const ids: string[] = [];
  let next: string | undefined = '/v1/pets?limit=100';
  let position = 0;
  for (let page = 0; next !== undefined; page += 1) {
    if (page % everyPage === 0) paths.push(next);
    const response: Response = await fetch(url + next, { headers });
    for (const { id } of (await response.json()) as { id: number }[]) {
      if (position % everyPet === 0) ids.push(String(id));
      position += 1;
    }
    next = /<(.+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  }
  return { paths, ids };
}

/** Pages that begin at different places. */
export function fromAnywhere(paths: readonly string[]): Workload {
  return (random) => ({ kind: 'page', path: paths[random(paths.length)] as string });
}

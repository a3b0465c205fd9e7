import type { Server } from './server.ts';

/**
 * Follows the links from the first page of 100 pets to the last one.
 *
 * @returns The paths of up to `keep` pages, taken evenly.
 */
export async function pagesOf({ url, headers }: Server, pets: number, keep = 1_000): Promise<string[]> {
  const every = Math.ceil(pets / 100 / keep);
  const paths: string[] = [];
  let next: string | undefined = '/v1/pets?limit=100';
  for (let page = 0; next !== undefined; page += 1) {
    if (page % every === 0) paths.push(next);
    const response: Response = await fetch(url + next, { headers });
    await response.arrayBuffer();
    next = /<(.+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  }
  return paths;
}

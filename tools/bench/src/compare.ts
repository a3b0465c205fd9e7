import { GROUPS, type Group, type GroupName } from './groups.ts';
import { fill, runLoad, type Sample } from './load.ts';
import type { Progress } from './progress.ts';
import type { Measurement } from './results.ts';
import type { Server } from './server.ts';
import { type Operation, WORKLOADS, type WorkloadName } from './workloads.ts';

export interface ComparisonOptions {
  readonly groups: readonly GroupName[];
  readonly workloads: readonly WorkloadName[];
  readonly connections: readonly number[];
  readonly rounds: number;
  /** Length of a run of load, in seconds. */
  readonly seconds: number;
  /** Pets that each server has before the first round. */
  readonly pets: number;
  /** Only the Animal Store and the peer that the ratios refer to. */
  readonly quick: boolean;
}

/** Length of the run before the first round, during which V8 compiles what the workload uses. */
const WARM_UP_SECONDS = 1;

/** Called after each workload with what was measured. */
type OnMeasured = (measurements: readonly Measurement[]) => void;

/** Compares the Animal Store with its peers. */
export async function comparePeers(
  options: ComparisonOptions,
  progress: Progress,
  onMeasured: OnMeasured,
): Promise<void> {
  for (const name of options.groups) {
    progress.show(`starting the servers of the group ${name}`);
    const group = await GROUPS[name](options.quick);
    for (const reason of group.missing) progress.warn(`NOT MEASURED ${group.title}: ${reason}`);
    if (!('servers' in group)) continue;
    try {
      await compareServers(group, options, progress, onMeasured);
    } finally {
      await group.stop();
    }
  }
}

/** Measures each workload with each number of connections on all servers of a group. */
export async function compareServers(
  { title, servers }: Pick<Group, 'title' | 'servers'>,
  { workloads, connections, rounds, seconds, pets }: Omit<ComparisonOptions, 'groups' | 'quick'>,
  progress: Progress,
  onMeasured: OnMeasured,
): Promise<void> {
  const ids = new Map<Server, readonly string[]>();
  for (const server of servers) {
    progress.show(`${title}: ${server.name} gets ${pets} pets`);
    ids.set(server, await fill(server, pets));
    await verify(server, ids.get(server)?.[0] as string);
  }
  for (const workload of workloads) {
    for (const count of connections) {
      const samples = new Map<Server, Sample[]>(servers.map((server) => [server, []]));
      for (let round = 0; round <= rounds; round += 1) {
        for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
          progress.show(`${title}: ${workload}, ${count} connections, round ${round} of ${rounds}, ${server.name}`);
          const run = {
            ids: ids.get(server) ?? [],
            connections: count,
            seconds: round === 0 ? WARM_UP_SECONDS : seconds,
          };
          const sample = await runLoad(server, WORKLOADS[workload], run);
          if (round > 0) samples.get(server)?.push(sample);
        }
      }
      onMeasured(
        [...samples].map(([server, list]) => ({
          group: title,
          workload,
          connections: count,
          server: server.name,
          samples: list,
        })),
      );
    }
  }
}

/**
 * Makes sure that a server does the same work as the others, before it is measured.
 *
 * @param id That of a pet that it has.
 * @throws Error If a response is not the one that the operation asks for.
 */
async function verify(server: Server, id: string): Promise<void> {
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

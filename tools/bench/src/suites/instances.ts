import { join } from 'node:path';
import { fill, runLoad, type Sample, type Target } from '../load.ts';
import { type MongoForBench, startMongo } from '../mongodb.ts';
import { type BenchOptions, chosen } from '../options.ts';
import { fromAnywhere, pagesOf } from '../pages.ts';
import { animalStore } from '../peers.ts';
import type { Progress } from '../progress.ts';
import { table } from '../report.ts';
import { saveJson } from '../results.ts';
import { type Server, startServer } from '../server.ts';
import { median } from '../statistics.ts';
import { newPet, WORKLOADS, type Workload } from '../workloads.ts';

const QUICK = { instances: [1, 2], connections: [32], rounds: 1, seconds: 1, pets: 1_000 };
const FULL = { instances: [1, 2, 4], connections: [32, 128], rounds: 3, seconds: 2, pets: 10_000 };

type Plan = Omit<typeof FULL, 'connections'>;

const FROM_ANYWHERE = 'list 100 from anywhere';
const MEASURED = ['get one', 'list 20', FROM_ANYWHERE, '90 % reads', 'create'] as const;

type Name = (typeof MEASURED)[number];

interface SharedSample extends Sample {
  /** The CPU time of mongod for a request, in microseconds; NaN where it can't be read. */
  readonly mongodCpu: number;
  /** Commands that mongod ran for a request. */
  readonly commands: number;
}

/** A workload on a number of instances; the connections are those of all instances together. */
interface Measurement {
  readonly workload: Name;
  readonly connections: number;
  readonly instances: number;
  readonly samples: readonly SharedSample[];
}

type Mongo = Exclude<MongoForBench, { missing: string }>;

/** Measures what requests cost when instances share a database, and checks that they agree. */
export async function run(options: BenchOptions, progress: Progress): Promise<void> {
  const mongo = await startMongo();
  if ('missing' in mongo) {
    progress.warn(`NOT MEASURED: ${mongo.missing}`);
    return;
  }
  const plan = options.quick ? QUICK : FULL;
  const servers: Server[] = [];
  try {
    const environment = { STORAGE: 'mongodb', MONGODB_URL: mongo.freshDatabase() };
    for (let number = 1; number <= Math.max(...plan.instances); number += 1) {
      servers.push(await startServer({ name: `instance ${number}`, command: animalStore(), environment }));
    }
    const ids = await fill(together(servers), plan.pets);
    const { paths } = await pagesOf(servers[0] as Server, plan.pets, { paths: plan.pets / 100, ids: 1 });
    const workloads = { ...WORKLOADS, [FROM_ANYWHERE]: fromAnywhere(paths) };
    const all: Measurement[] = [];
    for (const workload of chosen(MEASURED, options)) {
      for (const connections of options.connections ?? plan.connections) {
        progress.show(`${workload}, ${connections} connections`);
        const measured = await measure({ mongo, servers, ids, workloads }, { ...plan, workload, connections });
        progress.clear();
        console.log(tableOf(measured));
        all.push(...measured);
        saveJson(join(options.out, 'instances.json'), { measurements: all });
      }
    }
    console.log(await check(servers));
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await mongo.stop();
  }
}

/** Instances as one service. */
function together(servers: readonly Server[]): Target {
  return {
    ...(servers[0] as Server),
    name: `${servers.length} instances`,
    url: servers.map(({ url }) => url),
    cpuSeconds: () => servers.reduce((sum, server) => sum + server.cpuSeconds(), 0),
  };
}

async function measure(
  {
    mongo,
    servers,
    ids,
    workloads,
  }: { mongo: Mongo; servers: readonly Server[]; ids: readonly string[]; workloads: Readonly<Record<Name, Workload>> },
  { workload, connections, instances, rounds, seconds }: Plan & Pick<Measurement, 'workload' | 'connections'>,
): Promise<readonly Measurement[]> {
  // Each instance gets a connection at least.
  const measured = instances
    .filter((count) => count <= connections)
    .map((count) => ({ workload, connections, instances: count, samples: [] as SharedSample[] }));
  // The first round is the warm-up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const { instances: count, samples } of round % 2 === 0 ? measured : measured.toReversed()) {
      const cpu = mongo.cpuSeconds();
      const commands = await mongo.commands();
      const target = together(servers.slice(0, count));
      const sample = await runLoad(target, workloads[workload], { ids, connections, seconds });
      const responses = sample.succeeded + sample.failed;
      const shared = {
        mongodCpu: ((mongo.cpuSeconds() - cpu) / responses) * 1e6,
        commands: ((await mongo.commands()) - commands) / responses,
      };
      if (round > 0) samples.push({ ...sample, ...shared });
    }
  }
  return measured;
}

function tableOf(measurements: readonly Measurement[]): string {
  const [first] = measurements;
  if (first === undefined) return '';
  const rows = measurements.map(({ instances, samples }) => {
    const middle = (key: keyof SharedSample) => median(samples.map((sample) => sample[key]));
    const failed = samples.reduce((sum, sample) => sum + sample.failed, 0);
    return [
      `  ${instances} instance${instances === 1 ? '' : 's'}`,
      Math.round(middle('perSecond')).toLocaleString('en'),
      middle('cpu').toFixed(1),
      middle('mongodCpu').toFixed(1),
      middle('commands').toFixed(3),
      middle('p50').toFixed(2),
      middle('p99').toFixed(2),
      failed === 0 ? '' : `${failed} not successful`,
    ];
  });
  const title = `${first.workload}, ${first.connections} connection${first.connections === 1 ? '' : 's'}`;
  return table([[title, 'requests/s', 'CPU µs', 'of mongod', 'commands', 'p50 ms', 'p99 ms', ''], ...rows]);
}

const CREATIONS = 10_000;
const KEYS = 500;
const KEYS_AT_ONCE = 50;

/** @throws Error If two pets get one id, or if an idempotency key does not create one pet. */
async function check(servers: readonly Server[]): Promise<string> {
  const created = await fill(together(servers), CREATIONS, CREATIONS);
  const before = new Set(await idsOf(servers));
  const distinct = new Set(created).size;
  const missing = created.filter((id) => !before.has(id)).length;
  if (distinct < CREATIONS || missing > 0) {
    throw new Error(`${CREATIONS} created pets have ${distinct} ids, ${missing} of which are not listed`);
  }
  const ofKeys = new Set<string>();
  for (let key = 0; key < KEYS; key += KEYS_AT_ONCE) {
    const keys = Array.from({ length: KEYS_AT_ONCE }, (_, index) => `bench-${key + index}`);
    for (const id of await Promise.all(keys.map((each) => createOnce(servers, each)))) ofKeys.add(id);
  }
  const added = (await idsOf(servers)).filter((id) => !before.has(id)).length;
  if (ofKeys.size < KEYS || added !== KEYS) {
    throw new Error(`${KEYS} idempotency keys stand for ${ofKeys.size} pets, and added ${added}`);
  }
  return (
    `${CREATIONS.toLocaleString('en')} pets created by ${servers.length} instances have ids of their own, ` +
    `and ${KEYS} idempotency keys, each sent to all instances at once, created one pet each.`
  );
}

/** The ids of all pets, as the last instance lists them. */
async function idsOf(servers: readonly Server[]): Promise<readonly string[]> {
  return (await pagesOf(servers.at(-1) as Server, 1, { paths: 1, ids: 1 })).ids;
}

/**
 * Sends an idempotency key to all instances at once.
 *
 * @returns The id of the one pet.
 */
async function createOnce(servers: readonly Server[], key: string): Promise<string> {
  const responses = await Promise.all(
    servers.map(async ({ url, api, headers }) => {
      const { method, path, body = '' } = api({ kind: 'create', pet: newPet(0) });
      const response = await fetch(url + path, { method, headers: { ...headers, 'idempotency-key': key }, body });
      if (response.status !== 201) throw new Error(`${key}: ${response.status} ${await response.text()}`);
      return ((await response.json()) as { id: number }).id;
    }),
  );
  const [id, ...others] = new Set(responses);
  if (others.length > 0) throw new Error(`${key} created the pets ${[id, ...others].join(', ')}`);
  return String(id);
}

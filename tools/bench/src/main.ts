// npm run bench: compares the service with other servers, and its cost while it grows. All load uses the loopback interface.
//
// A suite chooses contenders and workloads. For each storage (storages.ts, which also has the peers) measure.ts starts the
// contenders and puts load on them in rounds; tables.ts prints the medians, and plot.ts draws them.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { whyNoContainers } from '@animal-store/test-servers/containers';
import { type Measurement, measure, type Plan } from './measure.ts';
import { measureOverload } from './overload.ts';
import { animalStore, preparePeers, serviceOf } from './peers.ts';
import { type Axes, plot } from './plot.ts';
import { type Contender, moveToLoadCores } from './server.ts';
import { notMeasured, STORAGES, type Storage, type StorageName } from './storages.ts';
import { measurementTable } from './tables.ts';

const USAGE = `usage: npm run bench [-- [suite] [options]]

  requests          the service beside other servers (the default)
  checkout FOLDER   the service beside that of another checkout of this repository
  growth            the cost of requests while the catalogue grows
  overload          what clients get if twice the capacity is offered

  --quick           a short run: few workloads, the most important servers
  --storage NAME    ${Object.keys(STORAGES).join(', ')}; may be repeated
  --rounds N        how many samples each median is of
  --plots FOLDER    draws the medians, an SVG file for each storage; growth draws all storages in one`;

interface Suite extends Omit<Plan, 'storage' | 'contenders' | 'pets'> {
  readonly contenders: (storage: Storage) => readonly Contender[];
  readonly sizes: readonly number[];
  readonly axes: Omit<Axes, 'title'>;
}

const BY_CONNECTIONS = {
  y: { key: 'perSecond', label: 'requests a second' },
  x: { key: 'connections', label: 'connections' },
} as const;

const BY_SIZE = { y: { key: 'cpu', label: 'CPU of a request, µs' }, x: { key: 'pets', label: 'animals' } } as const;

const suites = (quick: boolean, otherCheckout = ''): Record<string, Suite> => ({
  requests: {
    contenders({ peers }) {
      preparePeers();
      return [...(quick ? peers.slice(0, 1) : peers), animalStore];
    },
    workloads: ['get one', 'list 20', ...(quick ? [] : (['list 100 by status'] as const)), 'create'],
    connections: quick ? [32] : [1, 32, 128],
    sizes: [quick ? 1_000 : 10_000],
    rounds: quick ? 1 : 3,
    seconds: 1,
    axes: BY_CONNECTIONS,
  },
  checkout: {
    contenders() {
      if (otherCheckout === '') fail('name the folder of the other checkout, its dependencies installed');
      return [serviceOf('the other checkout', resolve(otherCheckout)), animalStore];
    },
    workloads: ['get one', 'list 20', 'list 100 by status', 'create'],
    connections: [1, 32],
    sizes: [1_000],
    // Many short rounds show a difference of a few hundredths.
    rounds: quick ? 5 : 15,
    seconds: 0.5,
    axes: BY_CONNECTIONS,
  },
  growth: {
    contenders: () => [animalStore],
    workloads: ['get one', 'list 20', 'list 100 by status', 'create'],
    connections: [32],
    // The first size comes again at the end: it shows how much the machine has changed.
    sizes: quick ? [10_000, 100_000, 10_000] : [10_000, 100_000, 1_000_000, 10_000],
    rounds: quick ? 1 : 3,
    seconds: 1,
    axes: BY_SIZE,
  },
});

function fail(reason: string): never {
  console.error(`bench: ${reason}\n\n${USAGE}`);
  process.exit(2);
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        storage: { type: 'string', multiple: true },
        rounds: { type: 'string' },
        plots: { type: 'string' },
      },
    });
  } catch (error) {
    return fail((error as Error).message);
  }
}

const { values, positionals } = readArguments();
const { quick, plots } = values;
const [name = 'requests', otherCheckout] = positionals;
const suite = suites(quick, otherCheckout)[name];
if (suite === undefined && name !== 'overload') fail(`there is no suite "${name}"`);
const storages = values.storage ?? (quick && name === 'requests' ? ['memory', 'mongodb'] : Object.keys(STORAGES));
const unknown = storages.find((storage) => !Object.hasOwn(STORAGES, storage));
if (unknown !== undefined) fail(`there is no storage "${unknown}"`);
const rounds = values.rounds === undefined ? suite?.rounds : Number(values.rounds);
if (rounds !== undefined && !(Number.isInteger(rounds) && rounds >= 1))
  fail('--rounds must be an integer of 1 or more');
moveToLoadCores();
if (suite === undefined) await measureOverload(quick ? 5 : 20);
else {
  const grown: Measurement[] = [];
  for (const storage of storages as StorageName[]) {
    const measured = await compare(storage, suite);
    const { title } = STORAGES[storage];
    if (name === 'growth') grown.push(...measured.map((one) => ({ ...one, contender: title })));
    else draw(`${name}-${storage}`, measured, { ...suite.axes, title: `Animal Store ${title}, and its peers` });
  }
  draw(name, grown, { ...suite.axes, title: 'Animal Store with more and more animals' });
}

function draw(file: string, measurements: readonly Measurement[], axes: Axes): void {
  if (plots === undefined || measurements.length === 0) return;
  mkdirSync(plots, { recursive: true });
  writeFileSync(join(plots, `${file}.svg`), plot(measurements, axes));
}

/** Prints what a suite measures on one storage, and returns it without what was measured again. */
async function compare(storageName: StorageName, { contenders, sizes, axes: _, ...plan }: Suite) {
  const storage: Storage = STORAGES[storageName];
  const noContainers = storage.image === undefined ? null : await whyNoContainers(storage.image);
  if (noContainers !== null) {
    notMeasured(storage.title, noContainers);
    return [];
  }
  const open = await storage.open();
  try {
    const present = contenders(storage).filter(({ name, missing }) => {
      const reason = missing?.() ?? null;
      if (reason !== null) notMeasured(name, reason);
      return reason === null;
    });
    const runs: (readonly Measurement[])[] = [];
    for (const pets of sizes) {
      runs.push(await measure({ ...plan, rounds: rounds ?? plan.rounds, storage: open, contenders: present, pets }));
    }
    console.log(measurementTable(storage.title, runs));
    // A size that comes again is a control of the machine, and no point of its own.
    return runs.filter((_, index) => sizes.indexOf(sizes[index] as number) === index).flat();
  } finally {
    await open.close();
  }
}

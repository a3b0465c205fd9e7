// npm run bench: compares the service with other servers, and its cost while it grows. All load uses the loopback interface.
//
// A comparison (comparisons.ts) chooses contenders and workloads. For each storage (storages.ts, which also has the peers)
// measure.ts starts the contenders and puts load on them in rounds; tables.ts prints the medians.

import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { COMPARISONS, compare } from './comparisons.ts';
import type { BenchOptions } from './options.ts';
import { moveToLoadCores } from './server.ts';
import { STORAGES } from './storages.ts';
import { WORKLOADS } from './workloads.ts';

const WITH_WRK = ['requests', 'checkout'];

const USAGE = `usage: npm run bench [-- [suite] [options]]

  requests          the service beside other servers (the default)
  checkout FOLDER   the service beside that of another checkout of this repository
  growth            the cost of requests while the catalogue grows
  overload          the service under twice the load it can serve
  start             time to the first response, and memory while idle

  --quick           a short run: few workloads, the most important servers
  --storage NAME    ${Object.keys(STORAGES).join(', ')}; may be repeated
  --workload NAME   ${Object.keys(WORKLOADS).join(', ')}; may be repeated
  --wrk             wrk (github.com/wg/wrk) puts the load on the servers: requests, checkout

Whole runs of requests and growth write the charts of docs/.`;

function fail(reason: string): never {
  console.error(`bench: ${reason}\n\n${USAGE}`);
  process.exit(2);
}

function checkNames<Name extends string>(
  what: string,
  names: readonly string[] | undefined,
  known: Readonly<Record<Name, unknown>>,
): asserts names is readonly Name[] | undefined {
  const unknown = names?.find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined) throw new Error(`there is no ${what} "${unknown}"`);
}

function readArguments(): BenchOptions & { readonly suite: string } {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        storage: { type: 'string', multiple: true },
        workload: { type: 'string', multiple: true },
        wrk: { type: 'boolean', default: false },
      },
    });
    const { quick, wrk, storage: storages, workload: workloads } = values;
    checkNames('storage', storages, STORAGES);
    checkNames('workload', workloads, WORKLOADS);
    const [suite = 'requests', checkout] = positionals;
    if (wrk && !WITH_WRK.includes(suite)) throw new Error(`${suite} has no option --wrk`);
    if (wrk && spawnSync('wrk', ['-v']).error !== undefined) throw new Error('wrk is not installed');
    return { suite, checkout, quick, wrk, storages, workloads };
  } catch (error) {
    return fail((error as Error).message);
  }
}

const { suite, ...options } = readArguments();
moveToLoadCores();
if (Object.hasOwn(COMPARISONS, suite)) await compare(suite as keyof typeof COMPARISONS, options);
else if (suite === 'overload') await (await import('./overload.ts')).run(options);
else if (suite === 'start') await (await import('./start.ts')).run(options);
else if (suite === 'help') console.log(USAGE);
else fail(`there is no suite "${suite}"`);

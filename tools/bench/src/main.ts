// npm run bench: how fast the service is, against what, and how its cost grows. Load goes to the loopback interface only.

import { moveToLoadCores } from './cores.ts';
import { type BenchOptions, readOptions } from './options.ts';
import { createProgress, type Progress } from './progress.ts';

/** One question, and the program that measures it. */
interface Suite {
  readonly summary: string;
  readonly load: () => Promise<{ run(options: BenchOptions, progress: Progress): Promise<void> }>;
}

const SUITES: Readonly<Record<string, Suite>> = {
  peers: { summary: 'the service beside other servers (the default)', load: () => import('./suites/peers.ts') },
  growth: { summary: 'the cost of requests while the catalogue grows', load: () => import('./suites/growth.ts') },
  start: { summary: 'time to the first response, and memory while idle', load: () => import('./suites/start.ts') },
  overload: { summary: 'the service under twice the load it can serve', load: () => import('./suites/overload.ts') },
  instances: {
    summary: 'several instances of the service on one MongoDB: cost of requests, ids, idempotency',
    load: () => import('./suites/instances.ts'),
  },
  charts: {
    summary: 'writes the charts of docs/ from the results of peers and growth',
    load: () => import('./suites/charts.ts'),
  },
  checkout: {
    summary: 'the service beside that of another checkout of this repository: checkout FOLDER',
    load: () => import('./suites/checkout.ts'),
  },
};

const USAGE = `usage: npm run bench [-- [suite] [options]]

${Object.entries(SUITES)
  .map(([name, { summary }]) => `  ${name.padEnd(12)}${summary}`)
  .join('\n')}

  --quick              a short run: few workloads, the most important servers
  --only NAME          one group of servers, storage or workload; may be repeated
  --connections 1,32   numbers of connections
  --out FOLDER         for JSON files (tools/bench/results)`;

if (process.argv.slice(2).some((argument) => ['help', '--help', '-h'].includes(argument))) {
  console.log(USAGE);
  process.exit();
}

function exitWithUsage(reason: string): never {
  console.error(`bench: ${reason}\n\n${USAGE}`);
  process.exit(2);
}

function parse() {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    return exitWithUsage((error as Error).message);
  }
}

const options = parse();
const suite = SUITES[options.suite];
if (suite === undefined) exitWithUsage(`there is no suite "${options.suite}"`);
moveToLoadCores();
const { run } = await suite.load();
await run(options, createProgress(process.stderr));

// npm run bench: how fast the service is, against what, and how its cost grows. Load goes to the loopback interface only.

import { moveToLoadCores } from './cores.ts';
import { readOptions } from './options.ts';
import { createProgress } from './progress.ts';
import { SUITES } from './suites.ts';

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

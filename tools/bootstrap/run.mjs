// The commands behind the scripts of the root package.json.
// Plain JavaScript without dependencies: a fresh clone has nothing but Node.js 20 or newer and npm.

import { apiReference, runChecks } from './checks.mjs';
import { ensureInstalled } from './install.mjs';
import { chooseNode, environment, exitCodeOf, pnpm, runProgram } from './programs.mjs';
import { runTests } from './tests.mjs';

const commands = {
  /** The dependencies are installed before every command. */
  install() {},

  /** Prints the path of the Node.js that runs TypeScript. */
  node: () => console.log(chooseNode()),

  /** Runs every check and every test. With arguments it runs Vitest with them, and no check. */
  async test(args) {
    chooseNode();
    const checks = args.length === 0 ? await runChecks() : { passed: 0, failed: 0 };
    const { passed, failed, skipped } = await runTests(args);
    return conclude({ passed: checks.passed + passed, failed: checks.failed + failed, skipped });
  },

  async check() {
    chooseNode();
    return conclude(await runChecks());
  },

  /** Measures the service beside other servers: see docs/performance.md. */
  bench: (args) => runTool('tools/bench/src/main.ts', args, process.env),

  /** Tests the tests of a package with deliberate errors: see CONTRIBUTING.md. */
  mutants: (args) => runTool('tools/mutants/src/main.ts', args, environment()),

  /** Builds dist/ of each package. Turborepo calls pnpm. */
  async build(args) {
    chooseNode();
    return exitCodeOf(await runProgram(pnpm('turbo', 'run', 'build', ...args), { env: environment() }));
  },

  /** Writes the API reference of the packages as HTML. */
  async 'docs:api'(args) {
    chooseNode();
    return exitCodeOf(await runProgram([...apiReference(), ...args], { env: environment() }));
  },

  /** Writes a note for the changelog, and releases the packages: docs/releasing.md. It publishes with pnpm. */
  async changeset(args) {
    chooseNode();
    return exitCodeOf(await runProgram(pnpm('changeset', ...args), { env: environment() }));
  },
};

/** Writes the last line of a run, and returns the exit code. */
function conclude({ passed, failed, skipped = 0 }) {
  console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return failed === 0 ? 0 : 1;
}

async function runTool(main, args, env) {
  return exitCodeOf(await runProgram([chooseNode(), '--conditions=@animal-store/source', main, ...args], { env }));
}

const [name, ...args] = process.argv.slice(2);
if (!Object.hasOwn(commands, name)) {
  console.error(`usage: node tools/bootstrap/run.mjs ${Object.keys(commands).join('|')} [arguments]`);
  process.exit(2);
}
// On other platforms Node.js is not installed with the dependencies: fail before anything is downloaded.
if (process.platform !== 'linux') chooseNode();
await ensureInstalled();
process.exitCode = await commands[name](args);

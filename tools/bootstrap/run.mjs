// The commands behind the scripts of the root package.json.
// Plain JavaScript without dependencies: a fresh clone has nothing but Node.js 20 or newer and npm.

import { apiReference, runChecks } from './checks.mjs';
import { ensureInstalled } from './install.mjs';
import { chooseNode, exitCodeOf, pnpm, runProgram } from './programs.mjs';
import { runTests } from './tests.mjs';

/** The commands, except `install`: the dependencies are installed before each. */
const commands = {
  /** Prints the path of the Node.js that runs TypeScript. */
  node: () => console.log(chooseNode()),

  /** Runs every check and every test. With arguments it runs Vitest with them, and no check. */
  async test(args) {
    const checks = args.length === 0 ? await runChecks() : { passed: 0, failed: 0 };
    const { passed, failed, skipped, isEmpty } = await runTests(args);
    if (isEmpty) {
      console.log(`\nno test ran that matches ${args.join(' ')}`);
      return 1;
    }
    return conclude({ passed: checks.passed + passed, failed: checks.failed + failed, skipped });
  },

  check: async () => conclude(await runChecks()),

  /** Measures the service beside other servers: see docs/performance.md. */
  bench: (args) => run(tool('tools/bench/src/main.ts', args)),

  /** Tests the tests of a package with deliberate errors: see tools/README.md. */
  mutants: (args) => run(tool('tools/mutants/src/main.ts', args)),

  /** Builds dist/ of each package. Turborepo calls pnpm. */
  build: (args) => run(pnpm('turbo', 'run', 'build', ...args)),

  /** Writes the API reference of the packages as HTML. */
  'docs:api': (args) => run([...apiReference(), ...args]),

  /** Writes a note for the changelog, and releases the packages: docs/releasing.md. It publishes with pnpm. */
  changeset: (args) => run(pnpm('changeset', ...args)),
};

const tool = (main, args) => [chooseNode(), '--conditions=@animal-store/source', main, ...args];

const run = async (program) => exitCodeOf(await runProgram(program));

/** Writes the last line of a run, and returns the exit code. */
function conclude({ passed, failed, skipped = 0 }) {
  console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return failed === 0 ? 0 : 1;
}

const [name, ...args] = process.argv.slice(2);
if (name !== 'install' && !Object.hasOwn(commands, name)) {
  console.error(`usage: node tools/bootstrap/run.mjs install|${Object.keys(commands).join('|')} [arguments]`);
  process.exit(2);
}
// On other platforms Node.js is not installed with the dependencies: fail before anything is downloaded.
if (process.platform !== 'linux') chooseNode();
await ensureInstalled();
if (name !== 'install') {
  chooseNode();
  process.exitCode = await commands[name](args);
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cruise, type ICruiseResult, type IModule } from 'dependency-cruiser';
import { usesDecorators } from './decorators.ts';
import { forbiddenImports, type RuleName } from './rules.ts';

/** A file that breaks a rule. */
export interface Violation {
  readonly rule: RuleName;
  /** The file, relative to the root of the repository. */
  readonly from: string;
  /** What it imports; the file itself where the rule is not about an import. */
  readonly to: string;
}

/** What was seen in a repository. */
export interface Cruise {
  readonly violations: readonly Violation[];
  /** Each file with what it imports, packages of npm included. */
  readonly modules: readonly IModule[];
}

/** Holds each source file below packages/, apps/ and tools/ against the rules. */
export async function cruiseRepository(root: string): Promise<Cruise> {
  const folders = ['packages', 'apps', 'tools'];
  const { output } = await cruise(folders, {
    baseDir: root,
    validate: true,
    ruleSet: { forbidden: forbiddenImports(readDrivers(root)) },
    // Imports of types count: they are what one layer knows of another.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    // Not simply `/dist/`: that would hide most packages of npm, and with them what the rules look for.
    // The programs of tools/clients import clients that their tests generate, the peers of tools/bench what only a
    // benchmark installs.
    exclude: {
      path: '^(?:packages|apps|tools)/[^/]+/(?:dist|coverage|node_modules)/|^tools/clients/(?:programs|generated)/|^tools/bench/peers/',
    },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      // As node --conditions=source does. Without it a workspace package is its dist/, which may not exist.
      conditionNames: ['source', 'import', 'node', 'default'],
      extensions: ['.ts', '.mjs', '.js', '.json'],
    },
  });
  const { modules, summary } = output as ICruiseResult;
  const imports = summary.violations.map(({ rule, from, to }) => ({ rule: rule.name as RuleName, from, to }));
  const decorators = modules
    .map(({ source }) => source)
    .filter((source) => folders.some((folder) => source.startsWith(`${folder}/`)))
    .filter((source) => usesDecorators(join(root, source)))
    .map((source): Violation => ({ rule: 'no-decorators', from: source, to: source }));
  return { violations: [...imports, ...decorators], modules };
}

/** The npm packages that adapters depend on. */
function readDrivers(root: string): string[] {
  const adapters = readdirSync(join(root, 'packages')).filter((name) => /^adapter-(?!contract$)/.test(name));
  return adapters.flatMap((adapter) => {
    const { dependencies = {} } = JSON.parse(readFileSync(join(root, 'packages', adapter, 'package.json'), 'utf8'));
    return Object.keys(dependencies).filter((name) => !name.startsWith('@animal-store/'));
  });
}

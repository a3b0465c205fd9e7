import type { IForbiddenRuleType, IRegularForbiddenRuleType } from 'dependency-cruiser';

type ImportRule = IRegularForbiddenRuleType & { comment: string };

/** Files that are neither built nor deployed: tests, their helpers and their Vitest projects. */
const TESTS = ['\\.test\\.ts$', '^(?:packages|apps)/[^/]+/(?:test/|vitest\\.projects\\.ts$)'];

/**
 * The architecture as rules about imports, by name. Paths are relative to the repository's root; `$1` is what the first
 * group of `from.path` matched. Each rule has its probes in probes.ts.
 *
 * @param drivers The npm packages that adapters depend on: the next adapter's driver is forbidden to transports without
 * a change here.
 */
function importRules(drivers: readonly string[]) {
  return {
    'domain-imports-nothing': {
      comment: 'The domain is data and functions: no package, no part of Node.js, no other workspace package.',
      from: { path: '^packages/domain/', pathNot: TESTS },
      to: { pathNot: '^packages/domain/' },
    },
    'exact-json-imports-nothing': {
      comment: 'JSON is read and written by the language alone.',
      from: { path: '^packages/exact-json/', pathNot: TESTS },
      to: { pathNot: '^packages/exact-json/' },
    },
    'memory-imports-the-domain-only': {
      comment: 'Plain memory is there wherever JavaScript runs: no package, no part of Node.js.',
      from: { path: '^packages/adapter-memory/', pathNot: TESTS },
      to: { pathNot: '^packages/(?:domain|adapter-memory)/' },
    },
    'mongodb-imports-domain-and-driver-only': {
      comment: 'The driver is what knows the network, and the processes it runs on.',
      from: { path: '^packages/adapter-mongodb/', pathNot: TESTS },
      to: { pathNot: ['^packages/(?:domain|adapter-mongodb)/', npm('mongodb')] },
    },
    'sqlite-imports-domain-and-node-only': {
      comment: 'SQLite is a part of Node.js: whoever deploys this adapter installs nothing.',
      from: { path: '^packages/adapter-sqlite/', pathNot: TESTS },
      to: { pathNot: '^packages/(?:domain|adapter-sqlite)/', dependencyTypesNot: ['core'] },
    },
    'adapters-do-not-meet': {
      comment: 'An adapter stands alone: whoever deploys one does not get another with it.',
      from: { path: '^(packages/adapter-(?!contract/)[^/]+/)', pathNot: TESTS },
      to: { path: '^packages/adapter-(?!contract/)', pathNot: '^$1' },
    },
    'adapters-know-only-the-domain': {
      comment: 'Of the workspace an adapter imports the domain, whose ports it implements, and nothing else.',
      from: { path: '^(packages/adapter-(?!contract/)[^/]+/)', pathNot: TESTS },
      to: { path: '^(?:packages|tools)/', pathNot: ['^$1', '^packages/(?:domain|adapter-[^/]+)/', '^tools/test-'] },
    },
    'adapters-do-not-speak-http': {
      comment: 'An adapter does not know that there is HTTP in front of it.',
      from: { path: '^packages/adapter-(?!contract/)' },
      to: { path: npm('hono', '@hono/[^/]+') },
    },
    'contract-needs-domain-and-test-libraries-only': {
      comment: 'Whoever writes an adapter gets the suites, and nothing else of this repository with them.',
      from: { path: '^packages/adapter-contract/' },
      to: {
        pathNot: ['^(?:apps|packages/(?:domain|adapter-contract))/', npm('vitest', 'fast-check')],
        dependencyTypesNot: ['core'],
      },
    },
    'libraries-do-not-know-adapters': {
      comment: 'Only app-kit has the list of storages: every other package serves all of them alike.',
      from: { path: '^packages/(?!domain/|adapter-|app-kit/)', pathNot: TESTS },
      to: { path: '^packages/adapter-(?!contract/)' },
    },
    'packages-do-not-know-apps': {
      comment: 'Dependencies point inwards.',
      from: { path: '^packages/' },
      to: { path: '^apps/' },
    },
    'apps-know-domain-exact-json-and-app-kit-only': {
      comment: 'An app imports the packages for apps. Tools are not deployed.',
      from: { path: '^apps/' },
      to: {
        path: '^(?:packages|tools)/',
        pathNot: ['^packages/(?:domain|exact-json|app-kit|adapter-[^/]+)/', '^tools/test-'],
      },
    },
    'apps-do-not-know-each-other': {
      comment: 'What two transports share belongs into a package.',
      from: { path: '^(apps/[^/]+/)' },
      to: { path: '^apps/', pathNot: '^$1' },
    },
    'transports-see-no-driver': {
      comment: "A transport calls use cases. What the storage is made of is not its business, nor its tests'.",
      from: { path: '^apps/' },
      to: { path: npm(...drivers) },
    },
    'apps-name-no-adapter': {
      comment: 'app-kit has the one list of storages. Tests may choose an adapter.',
      from: { path: '^apps/', pathNot: TESTS },
      to: { path: '^packages/adapter-(?!contract/)' },
    },
    'only-composition-uses-the-container': {
      comment: 'Dependency injection is how an app is put together, not how its parts are written.',
      from: { path: '^(?:packages|apps)/', pathNot: '^apps/[^/]+/src/composition\\.ts$' },
      to: { path: npm('tsyringe', 'reflect-metadata') },
    },
    'production-imports-no-tests': {
      comment: 'Neither a test file nor what exists for tests only: the contract and the test helpers.',
      from: { path: '^(?:packages|apps)/', pathNot: TESTS },
      to: { path: [...TESTS, '^tools/test-', '^packages/adapter-contract/src/index\\.ts$'] },
    },
    'production-imports-no-dev-dependencies': {
      comment: 'They are not there where a package is installed. Types that are gone after the build do no harm.',
      from: { path: '^(?:packages|apps)/[^/]+/src/', pathNot: TESTS },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['npm-peer', 'type-only'] },
    },
    'only-public-entries': {
      comment: 'A package is imported by its name, that is through its `exports`, never by a path into its insides.',
      from: { path: '^((?:packages|apps|tools)/[^/]+/)' },
      to: { path: '^(?:packages|tools)/', pathNot: '^$1', dependencyTypes: ['local'] },
    },
    'only-declared-packages': {
      comment: 'What a package imports stands in its own package.json.',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    'no-unresolvable-imports': {
      comment: 'An import that leads nowhere would also lead past every other rule.',
      from: {},
      to: { couldNotResolve: true },
    },
    'no-circles': {
      comment: 'Files that need each other to start. A circle that only the type checker sees is none.',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    'no-orphans': {
      comment: 'A file that imports nothing and that nothing imports is forgotten, unless a program begins there.',
      from: {
        orphan: true,
        pathNot: [
          ...TESTS,
          '/src/(?:index|main)\\.ts$',
          '\\.config\\.[a-z]+$',
          '^tools/(?!test-)',
          '^apps/http/assets/',
        ],
      },
      to: {},
    },
  } satisfies Record<string, ImportRule>;
}

/** The rules about imports, as the cruiser takes them. @param drivers The npm packages that adapters depend on. */
export function forbiddenImports(drivers: readonly string[]): IForbiddenRuleType[] {
  return Object.entries(importRules(drivers)).map(([name, rule]): IForbiddenRuleType => ({ name, ...rule }));
}

/** Each rule with the reason for it; the one that is not about imports included. */
export const RULES = {
  ...(Object.fromEntries(Object.entries(importRules([])).map(([name, { comment }]) => [name, comment])) as Record<
    keyof ReturnType<typeof importRules>,
    string
  >),
  'no-decorators': "Node.js can't run them from source, and a class must not need a container's metadata to be made.",
};

/** The name of a rule. */
export type RuleName = keyof typeof RULES;

/** Matches the files of npm packages; each name is a regular expression. */
function npm(...names: string[]): string {
  return `(?:^|/)node_modules/(?:${names.join('|')})/`;
}

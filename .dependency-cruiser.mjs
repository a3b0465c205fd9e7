// The architecture as rules about imports: docs/architecture.md. Paths are relative to the repository's root; `$1` is
// the first group of `from.path`. tools/boundaries has a probe for each rule, and tries it.

import { globSync, readFileSync } from 'node:fs';

/** Files that are neither built nor deployed: tests, their helpers and their Vitest projects. */
const TESTS = ['\\.test\\.ts$', '^(?:packages|apps)/[^/]+/(?:test/|vitest\\.projects\\.ts$)'];

const ADAPTER = '^packages/adapter-(?!contract/)[^/]+/';

/** What the OpenAPI document is made of, in apps/http. */
const DOCUMENT = ['^apps/http/src/openapi/', '^apps/http/src/pets/(?:descriptions|schemas)\\.ts$'];

/** Matches the files of npm packages; each name is a regular expression. */
const npm = (...names) => `(?:^|/)node_modules/(?:${names.join('|')})/`;

/** The npm packages that adapters depend on. */
const drivers = globSync('packages/adapter-!(contract)/package.json', { cwd: import.meta.dirname })
  .map((path) => JSON.parse(readFileSync(`${import.meta.dirname}/${path}`, 'utf8')))
  .flatMap(({ dependencies, peerDependencies }) => Object.keys({ ...dependencies, ...peerDependencies }))
  .filter((name) => !name.startsWith('@animal-store/'));

/** @type {Record<string, Omit<import('dependency-cruiser').IForbiddenRuleType, 'name'>>} */
const packages = {
  'domain-imports-nothing': {
    comment: 'The domain is data and functions: no package, no part of Node.js, no other workspace.',
    from: { path: '^packages/domain/', pathNot: TESTS },
    to: { pathNot: '^packages/domain/' },
  },
  'exact-json-imports-nothing': {
    comment: 'exact-json reads and writes JSON with the language alone.',
    from: { path: '^packages/exact-json/', pathNot: TESTS },
    to: { pathNot: '^packages/exact-json/' },
  },
  'http-server-imports-node-only': {
    comment: 'The server knows no framework, no Error body and no pet.',
    from: { path: '^packages/http-server/', pathNot: TESTS },
    to: { pathNot: '^packages/http-server/', dependencyTypesNot: ['core'] },
  },
  'api-docs-imports-no-workspace': {
    comment: 'The documentation page stands on the OpenAPI document and the manuals, which it reads at run time.',
    from: { path: '^packages/api-docs/', pathNot: TESTS },
    to: { path: '^(?:packages|apps|tools)/', pathNot: '^packages/(?:api-docs|async)/' },
  },
  'observability-imports-no-transport': {
    comment: 'A service on the ports is observed alike, whatever its transport.',
    from: { path: '^packages/observability/', pathNot: TESTS },
    to: {
      path: ['^(?:packages|apps|tools)/', '(?:^|/)node_modules/', '^(?:http|https|http2|net|tls)$'],
      pathNot: ['^packages/(?:observability|async|domain)/', npm('prom-client')],
    },
  },
  'adapters-import-the-domain-only': {
    comment:
      'Of the workspaces an adapter imports the domain, whose ports it implements. It does not bring another adapter.',
    from: { path: '^packages/(adapter-(?!contract/)[^/]+)/', pathNot: TESTS },
    to: { path: '^(?:packages|apps|tools)/', pathNot: '^packages/(?:$1|domain)/' },
  },
  'adapters-import-ports-not-transports': {
    comment: 'The use cases for transports are no business of an adapter.',
    from: { path: ADAPTER, pathNot: TESTS },
    to: { path: '^packages/domain/src/transport\\.ts$' },
  },
  'adapters-import-no-http-library': {
    comment: 'An adapter does not know that there is HTTP in front of it.',
    from: { path: ADAPTER },
    to: { path: npm('hono', '@hono/[^/]+') },
  },
  'adapter-memory-imports-no-library': {
    comment: 'Memory is available wherever JavaScript runs: no package, no part of Node.js.',
    from: { path: '^packages/adapter-memory/', pathNot: TESTS },
    to: { pathNot: '^(?:packages|apps|tools)/' },
  },
  'adapter-mongodb-imports-the-driver-only': {
    comment: 'The driver handles the network, and works on more platforms than Node.js.',
    from: { path: '^packages/adapter-mongodb/', pathNot: TESTS },
    to: { pathNot: ['^(?:packages|apps|tools)/', npm('mongodb')] },
  },
  'adapter-sqlite-imports-node-only': {
    comment: 'SQLite is a part of Node.js: this adapter needs no installation.',
    from: { path: '^packages/adapter-sqlite/', pathNot: TESTS },
    to: { pathNot: '^(?:packages|apps|tools)/', dependencyTypesNot: ['core'] },
  },
  'contract-imports-domain-and-test-libraries-only': {
    comment: 'Authors of adapters get the suites, and nothing else of this repository with them.',
    from: { path: '^packages/adapter-contract/' },
    to: {
      pathNot: ['^(?:apps|packages/(?:domain|adapter-contract))/', npm('vitest', 'fast-check')],
      dependencyTypesNot: ['core'],
    },
  },
  'only-app-kit-imports-adapters': {
    comment: 'app-kit has the one list of storages: everything else serves all of them alike. Tests may choose one.',
    from: { path: '^(?:packages|apps)/', pathNot: ['^packages/(?:app-kit|domain|adapter-[^/]+)/', ...TESTS] },
    to: { path: ADAPTER },
  },
  'packages-import-no-apps': {
    comment: 'Dependencies point inwards.',
    from: { path: '^packages/' },
    to: { path: '^apps/' },
  },
  'apps-import-libraries-only': {
    comment: 'Of the workspaces an application imports these. Tools are not deployed.',
    from: { path: '^apps/' },
    to: {
      path: '^(?:packages|tools)/',
      pathNot: [
        '^packages/(?:domain|async|exact-json|http-server|observability|api-docs|app-kit|adapter-[^/]+)/',
        '^tools/test-',
      ],
    },
  },
  'apps-do-not-import-each-other': {
    comment: 'Code that two transports share belongs into a package.',
    from: { path: '^(apps/[^/]+/)' },
    to: { path: '^apps/', pathNot: '^$1' },
  },
  'apps-import-no-driver': {
    comment: 'A transport calls use cases. Neither it nor its tests know the driver of a storage.',
    from: { path: '^apps/' },
    to: { path: npm(...drivers) },
  },
  'only-composition-imports-the-container': {
    comment: 'Dependency injection puts an application together. Its parts are written without it.',
    from: { path: '^(?:packages|apps)/', pathNot: '^apps/[^/]+/src/composition\\.ts$' },
    to: { path: npm('tsyringe', 'reflect-metadata') },
  },
};

/** The folders of apps/http, from the lowest. @type {typeof packages} */
const folders = {
  'http-imports-no-other-folder': {
    comment: 'Requests and responses in general are below all other folders.',
    from: { path: '^apps/http/src/http/', pathNot: TESTS },
    to: { path: '^apps/http/src/', pathNot: '^apps/http/src/http/' },
  },
  'access-observability-and-openapi-import-http-only': {
    comment: 'These folders import neither each other nor operations: the operations have descriptions of their own.',
    from: { path: '^apps/http/src/(access|observability|openapi)/', pathNot: TESTS },
    to: { path: '^apps/http/src/', pathNot: '^apps/http/src/(?:$1|http)/' },
  },
  'pets-imports-openapi-and-http-only': {
    comment: 'Operations know requests and responses; their descriptions are made of building blocks.',
    from: { path: '^apps/http/src/pets/', pathNot: TESTS },
    to: { path: '^apps/http/src/', pathNot: '^apps/http/src/(?:pets|openapi|http)/' },
  },
  'document-is-loaded-on-use': {
    comment: 'TypeBox takes 13 MB and a third of the time of a start. Only a request for the document needs it.',
    from: { path: '^apps/http/src/', pathNot: [...DOCUMENT, ...TESTS] },
    to: { path: [...DOCUMENT, npm('typebox')], dynamic: false, dependencyTypesNot: ['type-only'] },
  },
  'app-imports-folders-only': {
    comment: 'The Hono application is made from the folders. Composition and service are above it.',
    from: { path: '^apps/http/src/app\\.ts$' },
    to: { path: '^apps/http/src/[^/]+\\.ts$' },
  },
  'only-service-imports-the-composition': {
    comment: 'The service puts the application together and runs it. Tests may put it together, too.',
    from: { path: '^apps/http/src/', pathNot: ['^apps/http/src/service\\.ts$', ...TESTS] },
    to: { path: '^apps/http/src/composition\\.ts$' },
  },
  'only-main-imports-the-service': {
    comment: 'The service is the top of the application.',
    from: { path: '^apps/http/src/', pathNot: '^apps/http/src/main\\.ts$' },
    to: { path: '^apps/http/src/(?:service|main)\\.ts$' },
  },
};

/** Rules that hold for every file. @type {typeof packages} */
const files = {
  'production-imports-no-tests': {
    comment: 'Neither a test file nor a package that exists for tests only: the contract and the test helpers.',
    from: { path: '^(?:packages|apps)/', pathNot: TESTS },
    to: { path: [...TESTS, '^tools/test-', '^packages/adapter-contract/src/index\\.ts$'] },
  },
  'production-imports-no-dev-dependencies': {
    comment: 'An installed package comes without them. Types that are gone after the build do no harm.',
    from: { path: '^(?:packages|apps)/[^/]+/src/', pathNot: TESTS },
    to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['npm-peer', 'type-only'] },
  },
  'only-public-entries': {
    comment: 'A package is imported by its name, that is through its `exports`, never by a path to one of its files.',
    from: { path: '^((?:packages|apps|tools)/[^/]+/)' },
    to: { path: '^(?:packages|tools)/', pathNot: '^$1', dependencyTypes: ['local'] },
  },
  'only-declared-packages': {
    comment: 'The package.json of a workspace names each package that the workspace imports.',
    from: {},
    to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
  },
  'no-unresolvable-imports': {
    comment: 'An import that leads nowhere would also lead past every other rule.',
    from: {},
    to: { couldNotResolve: true },
  },
  'no-circles': {
    comment: 'Files that need each other to start. A circle of types is no problem.',
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
        '^packages/api-docs/assets/',
      ],
    },
    to: {},
  },
};

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: Object.entries({ ...packages, ...folders, ...files }).map(([name, rule]) => ({
    name,
    severity: 'error',
    ...rule,
  })),
  options: {
    // Imports of types count: they are what one layer knows of another.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    // Not simply `/dist/`: that would hide most packages of npm, and with them the targets of the rules.
    // The programs of tools/clients import clients that their tests generate; the peers of tools/bench import packages that
    // only a benchmark installs.
    exclude: {
      path: '^(?:packages|apps|tools)/[^/]+/(?:dist|coverage|node_modules)/|^tools/clients/(?:programs|generated)/|^tools/bench/peers/',
    },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      // As `node --conditions=@animal-store/source` does. Without it a workspace is its dist/, which may not exist.
      conditionNames: ['@animal-store/source', 'import', 'node', 'default'],
      extensions: ['.ts', '.mjs', '.js', '.json'],
    },
  },
};

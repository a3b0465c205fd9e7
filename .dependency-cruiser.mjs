// The architecture as rules about imports: docs/architecture.md. Paths are relative to the repository's root; `$1` is the first
// group of `from.path`. Other tools reject imports that lead nowhere (TypeScript), packages that are not declared (pnpm), parts
// of Node.js in packages without them (`types: []` in tsconfig.base.json), and files that nothing imports (Knip).

import { globSync, readFileSync } from 'node:fs';

/** Files that are neither built nor deployed: tests, their helpers and their Vitest projects. */
const TESTS = ['\\.test\\.ts$', '^(?:packages|apps)/[^/]+/(?:test/|vitest\\.projects\\.ts$)'];

const ADAPTERS = 'packages/adapter-(?!contract/)[^/]+/';

/** Matches the files of npm packages; each name is a regular expression. */
const npm = (...names) => `(?:^|/)node_modules/(?:${names.join('|')})/`;

/** The npm packages that adapters depend on. */
const drivers = globSync('packages/adapter-!(contract)/package.json', { cwd: import.meta.dirname })
  .map((path) => JSON.parse(readFileSync(`${import.meta.dirname}/${path}`, 'utf8')))
  .flatMap(({ dependencies, peerDependencies }) => Object.keys({ ...dependencies, ...peerDependencies }))
  .filter((name) => !name.startsWith('@animal-store/'));

/**
 * The imports that each workspace may have. Every other import between them is an error.
 *
 * @type {import('dependency-cruiser').IAllowedRuleType[]}
 */
const allowed = [
  // npm packages and parts of Node.js.
  { from: {}, to: { pathNot: '^(?:packages|apps|tools)/' } },
  { from: { path: '^tools/' }, to: {} },
  // Tests may use any package and the test tools.
  { from: { path: TESTS }, to: { path: '^(?:packages/|tools/test-)' } },
  // A workspace may import itself.
  { from: { path: '^([^/]+/[^/]+)/' }, to: { path: '^$1/' } },
  {
    from: { path: '^packages/adapter-[^/]+/' },
    to: { path: '^packages/domain/src/(?:index|ports)\\.ts$' },
  },
  { from: { path: '^packages/client/' }, to: { path: '^packages/(?:domain|exact-json)/src/index\\.ts$' } },
  {
    from: { path: '^packages/(?:adapter-|app-kit/)' },
    to: { path: '^packages/adapter-kit/' },
  },
  {
    from: { path: '^packages/mcp-tools/' },
    to: { path: '^packages/(?:domain/src/(?:index|transport)|exact-json/src/index)\\.ts$' },
  },
  { from: { path: '^packages/adapter-contract/' }, to: { path: '^packages/domain/' } },
  { from: { path: '^packages/app-kit/' }, to: { path: `^(?:packages/domain/|${ADAPTERS})` } },
  {
    from: { path: '^apps/' },
    to: { path: '^packages/(?:domain|exact-json|app-kit|mcp-tools)/' },
  },
];

/** The parts of the OpenAPI document that need TypeBox, in apps/http. */
const DOCUMENT = ['^apps/http/src/app/openapi/(?:document|schemas)\\.ts$'];

/** @type {Record<string, Omit<import('dependency-cruiser').IForbiddenRuleType, 'name'>>} */
const forbidden = {
  'domain-imports-nothing': {
    comment: 'The domain is data and functions: no package, no part of Node.js, no other workspace.',
    from: { path: '^packages/domain/', pathNot: TESTS },
    to: { pathNot: '^packages/domain/' },
  },
  'only-apps-import-hono': {
    comment: 'No package knows the framework.',
    from: { path: '^packages/' },
    to: { path: npm('hono', '@hono/[^/]+') },
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
  'server-knows-no-application': {
    comment: 'The server is Node.js alone. It rejects requests in the words of the application.',
    from: { path: '^apps/http/src/server/', pathNot: TESTS },
    to: { path: [npm('hono', '@hono/[^/]+'), '^apps/http/src/(?!server/|app/(?:errors|messages)\\.ts$)'] },
  },
  'application-knows-no-server': {
    comment: 'The application runs on every runtime for Hono, and in tests without a server.',
    from: { path: '^apps/http/src/app/', pathNot: TESTS },
    to: { path: ['^(?:node:)?(?:http|https|http2|net|tls)$', npm('@hono/[^/]+'), '^apps/http/src/(?!app/)'] },
  },
  'document-is-loaded-on-use': {
    comment: 'TypeBox takes 13 MB and a third of the time of a start. Only a request for the document needs it.',
    from: { path: '^apps/http/src/', pathNot: [...DOCUMENT, ...TESTS] },
    to: { path: [...DOCUMENT, npm('typebox')], dynamic: false, dependencyTypesNot: ['type-only'] },
  },
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
    // Scenarios explore modules that are not public.
    from: { path: '^((?:packages|apps|tools)/[^/]+/)', pathNot: '^tools/explorer/scenarios/' },
    to: { path: '^(?:packages|tools)/', pathNot: '^$1', dependencyTypes: ['local'] },
  },
  'no-circles': {
    comment: 'Files that need each other to start. A circle of types is no problem there.',
    from: { pathNot: '^packages/' },
    to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
  },
  'no-circles-in-packages': {
    comment: 'Files of a package can be read one after the other: a circle of types counts, too.',
    from: { path: '^packages/' },
    to: { circular: true },
  },
};

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  allowed,
  allowedSeverity: 'error',
  forbidden: Object.entries(forbidden).map(([name, rule]) => ({ name, severity: 'error', ...rule })),
  options: {
    // Imports of types count: they are what one layer knows of another.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    // A plain `/dist/` would hide most packages of npm, and with them the targets of the rules.
    // The programs of tools/clients import clients that their tests generate; the peers of tools/bench import packages that
    // only a benchmark installs.
    exclude: {
      path: '^(?:packages|apps|tools)/[^/]+/(?:dist|coverage|node_modules)/|^tools/clients/(?:programs|generated)/|^tools/bench/peers/',
    },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      // The condition of `node --conditions=…`. Without it a workspace resolves to its dist/, which may not exist.
      conditionNames: ['@animal-store/source', 'import', 'node', 'default'],
      extensions: ['.ts', '.mjs', '.js', '.json'],
    },
  },
};

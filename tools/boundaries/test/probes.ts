/** Files by path, relative to the root of a repository. */
export type Files = Readonly<Record<string, string>>;

/** A repository in miniature that keeps to every rule. Some of its imports resemble forbidden ones, and are allowed. */
export const CLEAN: Files = {
  'packages/domain/package.json': manifest('domain', {
    dependencies: ['zod'],
    devDependencies: ['vitest', '@animal-store/adapter-memory'],
  }),
  'packages/domain/src/index.ts': "export * from './pet.ts';",
  'packages/domain/src/ports.ts': "export type { pet } from './pet.ts';",
  'packages/domain/src/transport.ts': "export * from './pet.ts';",
  'packages/domain/src/pet.ts': 'export const pet = 1;',
  'packages/domain/src/pet.test.ts': `
    import 'node:assert';
    import 'vitest';
    import '@animal-store/adapter-memory';
  `,
  'packages/adapter-contract/package.json': manifest('adapter-contract', {
    dependencies: ['@animal-store/domain', 'zod'],
    peerDependencies: ['vitest', 'fast-check'],
    devDependencies: ['vitest', 'fast-check'],
  }),
  'packages/adapter-contract/src/index.ts': `
    import 'node:crypto';
    import 'vitest';
    import 'fast-check';
    import '@animal-store/domain';
  `,
  'packages/exact-json/package.json': manifest('exact-json', { dependencies: ['zod'], devDependencies: ['vitest'] }),
  'packages/exact-json/src/index.ts': "export * from './json.ts';",
  'packages/exact-json/src/json.ts': 'export const json = 1;',
  'packages/exact-json/src/json.test.ts': `
    import 'node:assert';
    import 'vitest';
  `,
  'packages/adapter-memory/package.json': manifest('adapter-memory', {
    dependencies: ['@animal-store/domain', 'zod'],
    devDependencies: ['@animal-store/adapter-contract'],
  }),
  'packages/adapter-memory/src/index.ts': `
    import type { pet } from '@animal-store/domain';
    import type { pet as port } from '@animal-store/domain/ports';
  `,
  'packages/adapter-memory/src/index.test.ts': `
    import './index.ts';
    import 'node:vm';
    import '@animal-store/adapter-contract';
  `,
  'packages/adapter-mongodb/package.json': manifest('adapter-mongodb', {
    dependencies: ['zod'],
    peerDependencies: ['@animal-store/domain', 'mongodb'],
    devDependencies: ['@animal-store/adapter-contract', '@animal-store/adapter-memory', '@animal-store/test-mongodb'],
  }),
  'packages/adapter-mongodb/src/index.ts': `
    import 'mongodb';
    import '@animal-store/domain';
  `,
  'packages/adapter-mongodb/src/index.test.ts': `
    import './index.ts';
    import 'node:net';
    import '@animal-store/adapter-contract';
    import '@animal-store/adapter-memory';
    import '@animal-store/test-mongodb';
  `,
  'packages/adapter-sqlite/package.json': manifest('adapter-sqlite', {
    dependencies: ['@animal-store/domain', 'zod'],
    devDependencies: ['vitest'],
  }),
  'packages/adapter-sqlite/src/index.ts': `
    import 'node:sqlite';
    import '@animal-store/domain';
  `,
  'packages/adapter-sqlite/test/fresh-file.ts': "import 'vitest';",
  // The next adapter: no rule names it, those about every adapter hold for it.
  'packages/adapter-next/package.json': manifest('adapter-next', {
    dependencies: ['@animal-store/domain', 'driver-of-next'],
    devDependencies: ['@animal-store/adapter-contract', '@hono/node-server', 'hono'],
  }),
  'packages/adapter-next/src/index.ts': `
    import 'node:net';
    import 'driver-of-next';
    import '@animal-store/domain';
  `,
  'packages/app-kit/package.json': manifest('app-kit', {
    dependencies: ['@animal-store/adapter-memory', '@animal-store/adapter-mongodb', '@animal-store/domain'],
  }),
  'packages/app-kit/src/index.ts': `
    import '@animal-store/domain';
    export const load = () => [import('@animal-store/adapter-memory'), import('@animal-store/adapter-mongodb')];
  `,
  'packages/http-server/package.json': manifest('http-server', {
    dependencies: ['@animal-store/domain', 'hono'],
    devDependencies: ['vitest'],
  }),
  'packages/http-server/src/index.ts': "import 'node:http';",
  'packages/http-server/src/index.test.ts': "import 'vitest';",
  'packages/observability/package.json': manifest('observability', {
    dependencies: ['@animal-store/domain', '@animal-store/http-server', 'hono', 'prom-client'],
    devDependencies: ['vitest'],
  }),
  'packages/observability/src/index.ts': `
    import 'node:fs';
    import 'prom-client';
    import '@animal-store/domain/transport';
  `,
  'packages/observability/src/index.test.ts': "import 'vitest';",
  'packages/words/package.json': manifest('words', { dependencies: ['tsyringe'] }),
  'packages/words/src/index.ts': '',
  'apps/http/package.json': manifest('http', {
    dependencies: [
      '@animal-store/adapter-memory',
      '@animal-store/app-kit',
      '@animal-store/domain',
      '@animal-store/exact-json',
      '@animal-store/http-server',
      '@animal-store/observability',
      'hono',
      'mongodb',
      'reflect-metadata',
      'tsyringe',
      'typebox',
    ],
    devDependencies: ['@types/node', 'vitest'],
  }),
  'apps/http/src/main.ts': "import './service.ts';",
  'apps/http/src/service.ts': `
    import './composition.ts';
    import './configuration.ts';
    import '@animal-store/http-server';
    import '@animal-store/observability';
  `,
  'apps/http/src/configuration.ts': "import 'node:crypto';",
  'apps/http/src/composition.ts': `
    import 'reflect-metadata';
    import 'tsyringe';
    import './app.ts';
    import './configuration.ts';
    import './observability/log.ts';
    import '@animal-store/app-kit';
  `,
  'apps/http/src/app.ts': `
    import 'node:http';
    import 'hono';
    import './access/guard.ts';
    import './http/response.ts';
    import './pets/index.ts';
    import '@animal-store/domain';
    import '@animal-store/domain/transport';
    import '@animal-store/exact-json';
    import type { Test } from 'vitest';
    import('./openapi/document.ts');
    import('./pets/descriptions.ts');
  `,
  'apps/http/src/http/response.ts': "import './headers.ts';",
  'apps/http/src/http/headers.ts': 'export const headers = 1;',
  'apps/http/src/access/guard.ts': "import '../http/response.ts';",
  'apps/http/src/observability/log.ts': "import '../http/response.ts';",
  'apps/http/src/openapi/document.ts': "import '../http/response.ts';",
  'apps/http/src/pets/index.ts': "import '../http/response.ts';",
  'apps/http/src/pets/descriptions.ts': `
    import '../openapi/document.ts';
    import './schemas.ts';
  `,
  'apps/http/src/pets/schemas.ts': "import 'typebox';",
  'apps/http/src/pets/index.test.ts': "import '../access/guard.ts';",
  'apps/http/src/app.test.ts': "import './app.ts';",
  'apps/http/test/service.ts': `
    import 'vitest';
    import '../src/app.ts';
    import '../src/composition.ts';
    import '@animal-store/adapter-memory';
  `,
  'apps/http/test/service.test.ts': "import './service.ts';",
  'apps/http/vitest.projects.ts': "import type { Test } from 'vitest';",
  'apps/cli/package.json': manifest('cli', {
    dependencies: ['@animal-store/adapter-memory', 'driver-of-next', 'mongodb'],
  }),
  'apps/cli/src/main.ts': '',
  'tools/test-mongodb/package.json': manifest('test-mongodb', { dependencies: ['mongodb'] }),
  'tools/test-mongodb/src/index.ts': "import 'mongodb';",
  'tools/bench/package.json': manifest('bench', { dependencies: ['mongodb'] }),
  'tools/bench/src/index.ts': "import 'mongodb';",
};

/** For each rule the files that break it, each alone and no other rule. */
export const PROBES = {
  'domain-imports-nothing': {
    'packages/domain/src/probe-node.ts': "import 'node:crypto';",
    'packages/domain/src/probe-npm.ts': "import 'zod';",
    'packages/domain/src/probe-workspace.ts': "import type { words } from '@animal-store/words';",
    'packages/domain/src/probe-reexport.ts': "export * from '@animal-store/adapter-memory';",
    'packages/domain/src/probe-dynamic.ts': "export const later = () => import('@animal-store/adapter-memory');",
  },
  'exact-json-imports-nothing': {
    'packages/exact-json/src/probe-node.ts': "import 'node:crypto';",
    'packages/exact-json/src/probe-npm.ts': "import 'zod';",
    'packages/exact-json/src/probe-workspace.ts': "import type { pet } from '@animal-store/domain';",
  },
  'http-server-imports-node-only': {
    'packages/http-server/src/probe-npm.ts': "import type { Hono } from 'hono';",
    'packages/http-server/src/probe-workspace.ts': "import type { pet } from '@animal-store/domain';",
  },
  'api-docs-imports-no-workspace': {
    'packages/api-docs/src/probe-workspace.ts': "import '@animal-store/domain';",
  },
  'observability-imports-no-transport': {
    'packages/observability/src/probe-node.ts': "import 'node:http';",
    'packages/observability/src/probe-npm.ts': "import type { Hono } from 'hono';",
    'packages/observability/src/probe-workspace.ts': "import '@animal-store/http-server';",
  },
  'adapters-import-the-domain-only': {
    'packages/adapter-next/src/probe-adapter.ts': "import '@animal-store/adapter-memory';",
    'packages/adapter-next/src/probe-package.ts': "import '@animal-store/exact-json';",
    'packages/adapter-next/src/probe-tool.ts': "import '@animal-store/bench';",
  },
  'adapters-import-ports-not-transports': {
    'packages/adapter-next/src/probe-transport.ts': "import '@animal-store/domain/transport';",
  },
  'adapters-import-no-http-library': {
    'packages/adapter-next/src/probe-hono.ts': "import type { Hono } from 'hono';",
    'packages/adapter-next/src/probe-server.test.ts': "import '@hono/node-server';",
  },
  'adapter-memory-imports-no-library': {
    'packages/adapter-memory/src/probe-node.ts': "import 'node:fs';",
    'packages/adapter-memory/src/probe-npm.ts': "import 'zod';",
  },
  'adapter-mongodb-imports-the-driver-only': {
    'packages/adapter-mongodb/src/probe-node.ts': "import 'node:timers';",
    'packages/adapter-mongodb/src/probe-npm.ts': "import 'zod';",
  },
  'adapter-sqlite-imports-node-only': {
    'packages/adapter-sqlite/src/probe-npm.ts': "import 'zod';",
  },
  'contract-imports-domain-and-test-libraries-only': {
    'packages/adapter-contract/src/probe-npm.ts': "import 'zod';",
    'packages/adapter-contract/src/probe-adapter.ts': "import '@animal-store/adapter-memory';",
  },
  'packages-import-no-apps': {
    'packages/words/src/probe-app.ts': "import '../../../apps/http/src/app.ts';",
    'packages/domain/src/probe-app.test.ts': "import '../../../apps/http/src/app.ts';",
  },
  'apps-import-libraries-only': {
    'apps/http/src/probe-package.ts': "import '@animal-store/words';",
    'apps/http/test/probe-tool.ts': "import '@animal-store/bench';",
  },
  'apps-do-not-import-each-other': {
    'apps/cli/src/probe-app.ts': "import '../../http/src/app.ts';",
  },
  'apps-import-no-driver': {
    'apps/http/src/probe-driver.ts': "import type { MongoClient } from 'mongodb';",
    'apps/cli/test/probe-driver.ts': "import 'mongodb';",
    'apps/cli/test/probe-next-driver.ts': "import 'driver-of-next';",
  },
  'only-app-kit-imports-adapters': {
    'packages/words/src/probe-adapter.ts': "import type { MemoryStorage } from '@animal-store/adapter-memory';",
    'apps/http/src/probe-adapter.ts': "import type { MemoryStorage } from '@animal-store/adapter-memory';",
    'apps/cli/src/composition.ts': "import '@animal-store/adapter-memory';",
  },
  'only-composition-imports-the-container': {
    'apps/http/src/probe-container.ts': "import { container } from 'tsyringe';",
    'apps/http/src/nested/composition.ts': "import 'reflect-metadata';",
    'packages/words/src/probe-container.ts': "import { injectable } from 'tsyringe';",
  },
  'http-imports-no-other-folder': {
    'apps/http/src/http/probe-folder.ts': "import type { guard } from '../access/guard.ts';",
    'apps/http/src/http/probe-top.ts': "import '../configuration.ts';",
  },
  'access-observability-and-openapi-import-http-only': {
    'apps/http/src/access/probe-folder.ts': "import '../observability/log.ts';",
    'apps/http/src/observability/probe-top.ts': "import type { Configuration } from '../configuration.ts';",
    'apps/http/src/openapi/probe-operation.ts': "import '../pets/index.ts';",
  },
  'pets-imports-openapi-and-http-only': {
    'apps/http/src/pets/probe-folder.ts': "import '../access/guard.ts';",
    'apps/http/src/pets/probe-top.ts': "import '../app.ts';",
  },
  'document-is-loaded-on-use': {
    'apps/http/src/pets/probe-schemas.ts': "import './schemas.ts';",
    'apps/http/src/probe-document.ts': "import './openapi/document.ts';",
    'apps/http/src/pets/probe-typebox.ts': "import 'typebox';",
  },
  'app-imports-folders-only': {
    'apps/http/src/app.ts': `${CLEAN['apps/http/src/app.ts']} import './configuration.ts';`,
  },
  'only-service-imports-the-composition': {
    'apps/http/src/probe-composition.ts': "import './composition.ts';",
  },
  'only-main-imports-the-service': {
    'apps/http/src/probe-service.ts': "import './service.ts';",
  },
  'production-imports-no-tests': {
    'apps/http/src/probe-test.ts': "import './app.test.ts';",
    'apps/http/src/probe-test-helper.ts': "import '../test/service.ts';",
    'packages/words/src/probe-contract.ts': "import '@animal-store/adapter-contract';",
    'packages/words/src/probe-helper.ts': "import '@animal-store/test-mongodb';",
  },
  'production-imports-no-dev-dependencies': {
    'apps/http/src/probe-dev.ts': "import 'vitest';",
  },
  'only-public-entries': {
    'apps/http/src/probe-insides.ts': "import '../../../packages/domain/src/pet.ts';",
    'packages/adapter-memory/src/probe-entry.ts': "import '../../domain/src/index.ts';",
  },
  'only-declared-packages': {
    'apps/cli/src/probe-undeclared.ts': "import 'pino';",
  },
  'no-unresolvable-imports': {
    'apps/http/src/probe-insides-by-name.ts': "import '@animal-store/domain/src/pet.ts';",
    'apps/http/src/probe-nowhere.ts': "import './nowhere.ts';",
  },
  'no-circles': {
    'apps/http/src/probe-here.ts': "import './probe-there.ts';",
    'apps/http/src/probe-there.ts': "import './probe-here.ts';",
  },
  'no-orphans': {
    'packages/words/src/probe-forgotten.ts': 'export const forgotten = 1;',
  },
} satisfies Record<string, Files>;

/** The packages of npm that the files above import. */
export const NPM_PACKAGES = [
  '@hono/node-server',
  'driver-of-next',
  'fast-check',
  'hono',
  'mongodb',
  'pino',
  'prom-client',
  'reflect-metadata',
  'tsyringe',
  'typebox',
  'vitest',
  'zod',
];

function manifest(name: string, dependencies: Record<string, string[]> = {}): string {
  const versions = Object.entries(dependencies).map(([kind, names]) => [
    kind,
    Object.fromEntries(names.map((dependency) => [dependency, '*'])),
  ]);
  return JSON.stringify({
    name: `@animal-store/${name}`,
    exports: {
      '.': { '@animal-store/source': './src/index.ts', default: './dist/index.js' },
      ...(name === 'domain' && { './ports': './src/ports.ts', './transport': './src/transport.ts' }),
    },
    ...Object.fromEntries(versions),
  });
}

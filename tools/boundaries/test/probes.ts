/** Files by their paths, from the root of a repository. */
export type Files = Readonly<Record<string, string>>;

/** A repository in miniature that keeps to every rule. Some of its imports resemble forbidden ones, and are allowed. */
export const CLEAN: Files = {
  'packages/domain/package.json': manifest('domain', { devDependencies: ['vitest', '@animal-store/adapter-memory'] }),
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
    dependencies: ['@animal-store/domain'],
    peerDependencies: ['vitest', 'fast-check'],
    devDependencies: ['vitest', 'fast-check'],
  }),
  'packages/adapter-contract/src/index.ts': `
    import 'node:crypto';
    import 'vitest';
    import 'fast-check';
    import '@animal-store/domain/transport';
  `,
  'packages/adapter-memory/package.json': manifest('adapter-memory', {
    dependencies: ['@animal-store/domain'],
    devDependencies: ['@animal-store/adapter-contract'],
  }),
  'packages/adapter-memory/src/index.ts': `
    import type { pet } from '@animal-store/domain';
    import type { pet as port } from '@animal-store/domain/ports';
  `,
  'packages/adapter-memory/src/index.test.ts': "import '@animal-store/adapter-contract';",
  // The next adapter: no rule names it, those about every adapter hold for it.
  'packages/adapter-next/package.json': manifest('adapter-next', {
    dependencies: ['@animal-store/domain', 'driver-of-next'],
    devDependencies: ['@animal-store/adapter-memory', '@hono/node-server', 'hono'],
  }),
  'packages/adapter-next/src/index.ts': `
    import 'node:net';
    import 'driver-of-next';
    import '@animal-store/domain';
  `,
  'packages/app-kit/package.json': manifest('app-kit', {
    dependencies: ['@animal-store/adapter-memory', '@animal-store/domain'],
  }),
  'packages/app-kit/src/index.ts': `
    import '@animal-store/domain/transport';
    export const load = () => import('@animal-store/adapter-memory');
  `,
  'packages/http-server/package.json': manifest('http-server', { dependencies: ['hono'], devDependencies: ['vitest'] }),
  'packages/http-server/src/index.ts': "import 'node:http';",
  'packages/words/package.json': manifest('words', { dependencies: ['tsyringe'] }),
  'packages/words/src/index.ts': '',
  'apps/http/package.json': manifest('http', {
    dependencies: [
      '@animal-store/app-kit',
      '@animal-store/domain',
      '@animal-store/http-server',
      'hono',
      'reflect-metadata',
      'tsyringe',
      'typebox',
    ],
    devDependencies: ['@types/node', 'vitest'],
  }),
  'apps/http/src/main.ts': "import './composition.ts';",
  'apps/http/src/configuration.ts': "import 'node:crypto';",
  'apps/http/src/composition.ts': `
    import 'reflect-metadata';
    import 'tsyringe';
    import './app.ts';
    import './configuration.ts';
    import '@animal-store/app-kit';
    import '@animal-store/http-server';
  `,
  'apps/http/src/app.ts': `
    import 'hono';
    import './access/guard.ts';
    import './pets/index.ts';
    import '@animal-store/domain/transport';
    import type { Test } from 'vitest';
    import('./openapi/document.ts');
  `,
  'apps/http/src/http/response.ts': "import './headers.ts';",
  'apps/http/src/http/headers.ts': 'export const headers = 1;',
  'apps/http/src/access/guard.ts': "import '../http/response.ts';",
  'apps/http/src/openapi/document.ts': `
    import '../http/response.ts';
    import 'typebox';
  `,
  'apps/http/src/pets/index.ts': "import type { document } from '../openapi/document.ts';",
  'apps/http/src/pets/index.test.ts': "import '../access/guard.ts';",
  'apps/http/test/service.ts': `
    import 'vitest';
    import '../src/composition.ts';
    import '@animal-store/adapter-memory';
    import '@animal-store/test-servers';
  `,
  'apps/cli/package.json': manifest('cli', { dependencies: ['driver-of-next'] }),
  'apps/cli/src/main.ts': '',
  'tools/test-servers/package.json': manifest('test-servers', { dependencies: ['driver-of-next'] }),
  'tools/test-servers/src/index.ts': "import 'driver-of-next';",
};

/** For each rule the files that break it, each alone and no other rule. */
export const PROBES = {
  'not-in-allowed': {
    'packages/http-server/src/probe-domain.ts': "import type { pet } from '@animal-store/domain';",
    'packages/words/src/probe-adapter.ts': "import type { MemoryStorage } from '@animal-store/adapter-memory';",
    'packages/words/src/probe-app.test.ts': "import '../../../apps/cli/src/main.ts';",
    'packages/words/src/probe-reexport.ts': "export * from '@animal-store/app-kit';",
    'packages/words/src/probe-dynamic.ts': "export const later = () => import('@animal-store/adapter-memory');",
    'packages/adapter-next/src/probe-adapter.ts': "import '@animal-store/adapter-memory';",
    'packages/adapter-next/src/probe-transport.ts': "import '@animal-store/domain/transport';",
    'packages/adapter-contract/src/probe-adapter.ts': "import '@animal-store/adapter-memory';",
    'packages/app-kit/src/probe-server.ts': "import '@animal-store/http-server';",
    'apps/http/src/probe-adapter.ts': "import type { MemoryStorage } from '@animal-store/adapter-memory';",
    'apps/http/src/probe-package.ts': "import '@animal-store/words';",
    'apps/http/src/probe-app.ts': "import '../../cli/src/main.ts';",
    'apps/http/src/http/probe-folder.ts': "import type { guard } from '../access/guard.ts';",
    'apps/http/src/access/probe-folder.ts': "import '../pets/index.ts';",
    'apps/http/src/openapi/probe-operation.ts': "import '../pets/index.ts';",
    'apps/http/src/pets/probe-top.ts': "import type { Configuration } from '../configuration.ts';",
  },
  'domain-imports-nothing': {
    'packages/domain/src/probe-node.ts': "import 'node:crypto';",
    'packages/domain/src/probe-npm.ts': "import type { Hono } from 'fast-check';",
  },
  'only-apps-import-hono': {
    'packages/http-server/src/probe-hono.ts': "import type { Hono } from 'hono';",
    'packages/adapter-next/src/probe-server.test.ts': "import '@hono/node-server';",
  },
  'apps-import-no-driver': {
    'apps/cli/src/probe-driver.ts': "import type { Client } from 'driver-of-next';",
    'apps/cli/test/probe-driver.ts': "import 'driver-of-next';",
  },
  'only-composition-imports-the-container': {
    'apps/http/src/probe-container.ts': "import { container } from 'tsyringe';",
    'apps/http/src/http/composition.ts': "import 'reflect-metadata';",
    'packages/words/src/probe-container.ts': "import { injectable } from 'tsyringe';",
  },
  'document-is-loaded-on-use': {
    'apps/http/src/pets/probe-document.ts': "import '../openapi/document.ts';",
    'apps/http/src/probe-document.ts': "import './openapi/document.ts';",
    'apps/http/src/pets/probe-typebox.ts': "import 'typebox';",
  },
  'production-imports-no-tests': {
    'apps/http/src/probe-test.ts': "import './pets/index.test.ts';",
    'apps/http/src/probe-test-helper.ts': "import '../test/service.ts';",
  },
  'production-imports-no-dev-dependencies': {
    'apps/http/src/probe-dev.ts': "import 'vitest';",
  },
  'only-public-entries': {
    'apps/http/src/probe-insides.ts': "import '../../../packages/domain/src/pet.ts';",
    'packages/adapter-memory/src/probe-entry.ts': "import '../../domain/src/index.ts';",
  },
  'no-circles': {
    'apps/http/src/probe-here.ts': "import './probe-there.ts';",
    'apps/http/src/probe-there.ts': "import './probe-here.ts';",
  },
} satisfies Record<string, Files>;

/** The packages of npm that the files above import. */
export const NPM_PACKAGES = [
  '@hono/node-server',
  'driver-of-next',
  'fast-check',
  'hono',
  'reflect-metadata',
  'tsyringe',
  'typebox',
  'vitest',
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

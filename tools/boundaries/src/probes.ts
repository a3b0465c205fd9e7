import type { RuleName } from './rules.ts';

/** Files by path, relative to the root of a repository. */
export type Files = Readonly<Record<string, string>>;

/**
 * A repository in miniature that keeps to every rule: the same folders, and everything in it that is allowed although
 * it looks like what is forbidden.
 */
export const CLEAN: Files = {
  'packages/domain/package.json': manifest('domain', {
    dependencies: ['zod'],
    devDependencies: ['vitest', '@animal-store/adapter-memory'],
  }),
  'packages/domain/src/index.ts': `
    import { pet } from './pet.ts';
    /** @throws never: no decorator, nor this: {@link pet} */
    export const name = '@Pet() ' + pet;
  `,
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
  'packages/adapter-memory/src/index.ts': "import type { pet } from '@animal-store/domain';",
  'packages/adapter-memory/src/index.test.ts': `
    import './index.ts';
    import 'node:vm';
    import '@animal-store/adapter-contract';
  `,
  'packages/adapter-mongodb/package.json': manifest('adapter-mongodb', {
    dependencies: ['@animal-store/domain', 'mongodb', 'zod'],
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
  'packages/words/package.json': manifest('words', { dependencies: ['tsyringe'] }),
  'packages/words/src/index.ts': '',
  'apps/http/package.json': manifest('http', {
    dependencies: [
      '@animal-store/adapter-memory',
      '@animal-store/app-kit',
      '@animal-store/domain',
      '@animal-store/exact-json',
      'hono',
      'mongodb',
      'reflect-metadata',
      'tsyringe',
    ],
    devDependencies: ['@types/node', 'vitest'],
  }),
  'apps/http/src/main.ts': "import './composition.ts';",
  'apps/http/src/composition.ts': `
    import 'reflect-metadata';
    import 'tsyringe';
    import './app.ts';
    import '@animal-store/app-kit';
  `,
  'apps/http/src/app.ts': `
    import 'node:http';
    import 'hono';
    import '@animal-store/domain';
    import '@animal-store/exact-json';
    import type { Test } from 'vitest';
  `,
  'apps/http/src/app.test.ts': "import './app.ts';",
  'apps/http/test/service.ts': `
    import 'vitest';
    import '../src/app.ts';
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
  'memory-imports-the-domain-only': {
    'packages/adapter-memory/src/probe-node.ts': "import 'node:fs';",
    'packages/adapter-memory/src/probe-npm.ts': "import 'zod';",
  },
  'mongodb-imports-domain-and-driver-only': {
    'packages/adapter-mongodb/src/probe-node.ts': "import 'node:timers';",
    'packages/adapter-mongodb/src/probe-npm.ts': "import 'zod';",
  },
  'sqlite-imports-domain-and-node-only': {
    'packages/adapter-sqlite/src/probe-npm.ts': "import 'zod';",
  },
  'adapters-do-not-meet': {
    'packages/adapter-next/src/probe-adapter.ts': "import '@animal-store/adapter-memory';",
  },
  'adapters-know-only-the-domain': {
    'packages/adapter-next/src/probe-package.ts': "import '@animal-store/exact-json';",
    'packages/adapter-next/src/probe-tool.ts': "import '@animal-store/bench';",
  },
  'adapters-do-not-speak-http': {
    'packages/adapter-next/src/probe-hono.ts': "import type { Hono } from 'hono';",
    'packages/adapter-next/src/probe-server.test.ts': "import '@hono/node-server';",
  },
  'contract-needs-domain-and-test-libraries-only': {
    'packages/adapter-contract/src/probe-npm.ts': "import 'zod';",
    'packages/adapter-contract/src/probe-adapter.ts': "import '@animal-store/adapter-memory';",
  },
  'libraries-do-not-know-adapters': {
    'packages/words/src/probe-adapter.ts': "import type { MemoryStorage } from '@animal-store/adapter-memory';",
  },
  'packages-do-not-know-apps': {
    'packages/words/src/probe-app.ts': "import '../../../apps/http/src/app.ts';",
    'packages/domain/src/probe-app.test.ts': "import '../../../apps/http/src/app.ts';",
  },
  'apps-know-domain-exact-json-and-app-kit-only': {
    'apps/http/src/probe-package.ts': "import '@animal-store/words';",
    'apps/http/test/probe-tool.ts': "import '@animal-store/bench';",
  },
  'apps-do-not-know-each-other': {
    'apps/cli/src/probe-app.ts': "import '../../http/src/app.ts';",
  },
  'transports-see-no-driver': {
    'apps/http/src/probe-driver.ts': "import type { MongoClient } from 'mongodb';",
    'apps/cli/test/probe-driver.ts': "import 'mongodb';",
    'apps/cli/test/probe-next-driver.ts': "import 'driver-of-next';",
  },
  'apps-name-no-adapter': {
    'apps/http/src/probe-adapter.ts': "import type { MemoryStorage } from '@animal-store/adapter-memory';",
    'apps/cli/src/composition.ts': "import '@animal-store/adapter-memory';",
  },
  'only-composition-uses-the-container': {
    'apps/http/src/probe-container.ts': "import { container } from 'tsyringe';",
    'apps/http/src/nested/composition.ts': "import 'reflect-metadata';",
    'packages/words/src/probe-container.ts': "import { injectable } from 'tsyringe';",
  },
  'production-imports-no-tests': {
    'apps/http/src/probe-test.ts': "import './app.test.ts';",
    'apps/http/src/probe-test-helper.ts': "import '../test/service.ts';",
    'packages/adapter-next/src/probe-contract.ts': "import '@animal-store/adapter-contract';",
    'packages/adapter-next/src/probe-helper.ts': "import '@animal-store/test-mongodb';",
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
  'no-decorators': {
    'packages/words/src/probe-class.ts': "import './index.ts'; @sealed export class Pet {}",
    'packages/words/src/probe-member.ts': "import './index.ts'; export class Pet { @observed accessor name = ''; }",
    'apps/http/src/probe-parameter.ts':
      "import './app.ts'; export class Pet { constructor(@inject('name') name: string) {} }",
  },
} satisfies Record<RuleName, Files>;

/** The packages of npm that the files above import. */
export const NPM_PACKAGES = [
  '@hono/node-server',
  'driver-of-next',
  'fast-check',
  'hono',
  'mongodb',
  'pino',
  'reflect-metadata',
  'tsyringe',
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
    exports: { '.': { source: './src/index.ts', default: './dist/index.js' } },
    ...Object.fromEntries(versions),
  });
}

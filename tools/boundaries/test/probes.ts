/** For each rule files that break it, each alone and no other rule, beside the files of this repository. */
export const PROBES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'not-in-allowed': {
    'packages/async/src/probe-adapter.ts': "import type { createMemoryStorage } from '@animal-store/adapter-memory';",
    'packages/async/src/probe-app.test.ts': "import '../../../apps/cli/src/main.ts';",
    'packages/async/src/probe-reexport.ts': "export * from '@animal-store/app-kit';",
    'packages/async/src/probe-dynamic.ts': "export const later = () => import('@animal-store/adapter-memory');",
    'packages/adapter-mongodb/src/probe-adapter.ts': "import '@animal-store/adapter-memory';",
    'packages/adapter-mongodb/src/probe-transport.ts': "import '@animal-store/domain/transport';",
    'packages/adapter-contract/src/probe-adapter.ts': "import '@animal-store/adapter-memory';",
    'apps/http/src/probe-adapter.ts': "import type { createMemoryStorage } from '@animal-store/adapter-memory';",
    'apps/http/src/probe-package.ts': "import '@animal-store/client';",
    'apps/http/src/probe-app.ts': "import '../../cli/src/main.ts';",
  },
  'domain-imports-nothing': {
    'packages/domain/src/probe-node.ts': "import 'node:crypto';",
    'packages/domain/src/probe-npm.ts': "import type { Hono } from 'fast-check';",
  },
  'only-apps-import-hono': {
    'packages/async/src/probe-hono.ts': "import type { Hono } from 'hono';",
    'packages/adapter-mongodb/src/probe-server.test.ts': "import '@hono/node-server';",
  },
  'apps-import-no-driver': {
    'apps/cli/src/probe-driver.ts': "import type { MongoClient } from 'mongodb';",
    'apps/cli/test/probe-driver.ts': "import 'mongodb';",
  },
  'only-composition-imports-the-container': {
    'apps/http/src/probe-container.ts': "import { container } from 'tsyringe';",
    'apps/http/src/http/composition.ts': "import 'reflect-metadata';",
    'packages/async/src/probe-container.ts': "import { injectable } from 'tsyringe';",
  },
  'document-is-loaded-on-use': {
    'apps/http/src/probe-document.ts': "import './openapi/document.ts';",
    'apps/http/src/pets/probe-typebox.ts': "import 'typebox';",
  },
  'production-imports-no-tests': {
    'apps/http/src/probe-test.ts': "import './pets/cursor.test.ts';",
    'apps/http/src/probe-test-helper.ts': "import '../test/service.ts';",
  },
  'production-imports-no-dev-dependencies': {
    'apps/http/src/probe-dev.ts': "import 'vitest';",
  },
  'only-public-entries': {
    'apps/http/src/probe-insides.ts': "import '../../../packages/domain/src/pets/pet.ts';",
    'packages/adapter-memory/src/probe-entry.ts': "import '../../domain/src/index.ts';",
  },
  'no-circles': {
    'apps/http/src/probe-here.ts': "import './probe-there.ts';",
    'apps/http/src/probe-there.ts': "import './probe-here.ts';",
  },
};

/** The packages of npm that probes import, though their packages don't depend on them. */
export const NPM_PACKAGES = ['@hono/node-server', 'hono', 'mongodb', 'reflect-metadata', 'tsyringe', 'typebox'];

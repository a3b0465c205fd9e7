import assert from 'node:assert';
import { createHash } from 'node:crypto';
import { trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

// The cache of API keys of a process: a lookup that begins 5 s after a revocation rejects the key, also if queries fail.

const CACHE = 'packages/domain/src/api-keys/authentication.ts';
const API_KEY = `anst_${'k'.repeat(36)}`;
const digest = (text: string) => createHash('sha256').update(text).digest('hex');

type Modules = typeof import('@animal-store/domain/transport');
type ApiKeyRepository = Parameters<Modules['createAuthentication']>[0]['issuedKeys'];
type ApiKey = NonNullable<Awaited<ReturnType<ApiKeyRepository['find']>>>;

const ISSUED = { id: digest(API_KEY).slice(0, 16), revokedAt: null, expiresAt: null, lastUsedAt: 0 } as ApiKey;

const scenario =
  (lookups: number) =>
  ({ createAuthentication }: Modules) =>
  (world: World) => {
    const shared = { key: ISSUED, revokedAt: null as number | null };
    const find = () => world.command('find', { done: () => shared.key, failed: () => assert.fail('the query failed') });
    const now = () => world.now();
    const authenticate = createAuthentication({
      configuredKeys: new Map(),
      issuedKeys: { find, recordUse: async () => {}, revoke: () => {} } as unknown as ApiKeyRepository,
      digest,
      clock: now,
      monotonicClock: now,
    });
    async function look(): Promise<void> {
      const { revokedAt } = shared;
      const mustBeRejected = revokedAt !== null && world.now() - revokedAt >= 5_000;
      const key = await authenticate(API_KEY).catch(() => null);
      if (mustBeRejected && key !== null) throw new Error('a revoked key is accepted after 5 s');
    }
    world.client('reader', Array(lookups).fill(look));
    world.client('second reader', [look]);
    world.client('administrator', [
      async () => Object.assign(shared, { revokedAt: world.now(), key: { ...ISSUED, revokedAt: world.now() } }),
    ]);
    world.pass(2_500, () => world.now() < 7_500);
  };

await trial<Modules>('a revocation, 3 lookups, 7.5 s', [CACHE], scenario(2), [
  ['records are cached for 10 s', CACHE, 'KEY_TTL = 5_000', 'KEY_TTL = 10_000'],
  [
    'the age counts from the response',
    CACHE,
    'const key = await issuedKeys.find(hex);',
    'const key = await issuedKeys.find(hex);\n    lookups.set(hex, { startedAt: monotonicClock(), key: Promise.resolve(key) });',
  ],
  ['a record of exactly 5 s is still used', CACHE, '< KEY_TTL)', '<= KEY_TTL)'],
  ['queries in flight are joined at any age', CACHE, '< KEY_TTL)', '< 3 * KEY_TTL)'],
]);

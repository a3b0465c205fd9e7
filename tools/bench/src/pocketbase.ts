import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { onFreePorts } from '@animal-store/test-kit/free-ports';
import { type Contender, program } from './server.ts';
import { pocketBaseApi } from './workloads.ts';

const VERSION = 'v0.36.0';
const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'animal-store-bench', VERSION);
const PROGRAM = join(CACHE, 'base');
const ACCOUNT = { identity: 'bench@example.com', password: 'the-password-of-the-benchmark' };

/** PocketBase with its defaults, a collection of pets for users who have logged in, and one such user. */
export const pocketBase: Contender = {
  name: 'PocketBase',
  missing() {
    if (existsSync(PROGRAM)) return null;
    if (spawnSync('go', ['version']).status !== 0) return 'it needs Go, which is not installed';
    console.error('bench: building PocketBase…');
    const { status } = spawnSync('go', ['install', `github.com/pocketbase/pocketbase/examples/base@${VERSION}`], {
      env: { ...process.env, GOBIN: CACHE },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return status === 0 ? null : 'go install failed';
  },
  async start({ SQLITE_FILE }) {
    const folder = ['--dir', `${SQLITE_FILE}-of-pocketbase`];
    const isFirstStart = !existsSync(folder[1] as string);
    execFileSync(PROGRAM, ['superuser', 'upsert', ACCOUNT.identity, ACCOUNT.password, ...folder], { stdio: 'ignore' });
    // It can't choose a port by itself.
    const server = await onFreePorts(1, (port) => {
      const command = [PROGRAM, 'serve', ...folder, '--http', `127.0.0.1:${port}`];
      return program('PocketBase', command, { api: pocketBaseApi }).start({});
    });
    try {
      if (isFirstStart) await createCollections(server.url);
      const authorization = await logIn(server.url, 'users');
      return { ...server, headers: { ...server.headers, authorization } };
    } catch (error) {
      await server.stop();
      throw error;
    }
  },
};

async function createCollections(url: string): Promise<void> {
  const admin = await logIn(url, '_superusers');
  const loggedIn = "@request.auth.id != ''";
  await post(
    `${url}/api/collections`,
    {
      name: 'pets',
      type: 'base',
      fields: [
        { name: 'name', type: 'text', required: true, max: 200 },
        { name: 'categoryId', type: 'number', onlyInt: true },
        { name: 'status', type: 'select', values: ['available', 'pending', 'sold'] },
      ],
      indexes: ['CREATE INDEX idx_pets_status ON pets (status)'],
      listRule: loggedIn,
      viewRule: loggedIn,
      createRule: loggedIn,
    },
    admin,
  );
  const { identity: email, password } = ACCOUNT;
  await post(`${url}/api/collections/users/records`, { email, password, passwordConfirm: password }, admin);
}

/** @returns The token of the account in a collection. */
async function logIn(url: string, collection: string): Promise<string> {
  const { token } = await post(`${url}/api/collections/${collection}/auth-with-password`, ACCOUNT);
  return token as string;
}

async function post(url: string, body: object, token = ''): Promise<Record<string, unknown>> {
  const headers = { authorization: token, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`PocketBase: ${url} returned ${response.status}: ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

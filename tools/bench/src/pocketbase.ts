import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pocketBaseApi } from './apis.ts';
import { type Server, startServer } from './server.ts';

const VERSION = 'v0.36.0';
const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'animal-store-bench', VERSION);
const PROGRAM = join(CACHE, 'base');
const ACCOUNT = { identity: 'bench@example.com', password: 'the-password-of-the-benchmark' };

/**
 * Builds PocketBase once, outside of the repository.
 *
 * @returns Why it isn't there, or null.
 */
export function preparePocketBase(): string | null {
  if (existsSync(PROGRAM)) return null;
  if (spawnSync('go', ['version']).status !== 0) return 'it needs Go, which is not installed';
  console.error('bench: building PocketBase…');
  const { status } = spawnSync('go', ['install', `github.com/pocketbase/pocketbase/examples/base@${VERSION}`], {
    env: { ...process.env, GOBIN: CACHE },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return status === 0 ? null : 'go install failed';
}

/**
 * Starts PocketBase with its defaults, a collection of pets for users who have logged in, and one such user.
 *
 * @param folder Empty; its files are kept there.
 */
export async function startPocketBase(folder: string): Promise<Server> {
  const superuser = ['superuser', 'upsert', ACCOUNT.identity, ACCOUNT.password];
  execFileSync(PROGRAM, [...superuser, '--dir', folder], { stdio: 'ignore' });
  const server = await startServer({
    name: 'PocketBase',
    command: [PROGRAM, 'serve', '--dir', folder, '--http', `127.0.0.1:${await freePort()}`],
    api: pocketBaseApi,
  });
  try {
    const token = await prepareCollections(server.url);
    return { ...server, headers: { authorization: token, 'content-type': 'application/json' } };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** @returns The token of a user. */
async function prepareCollections(url: string): Promise<string> {
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
  return logIn(url, 'users');
}

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

/** It can't choose a port by itself. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

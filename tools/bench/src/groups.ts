import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Api, jsonServerApi } from './apis.ts';
import { animalStore, peer } from './peers.ts';
import { preparePocketBase, startPocketBase } from './pocketbase.ts';
import { type Server, startServer } from './server.ts';
import { openStorage } from './storages.ts';

export const ANIMAL_STORE = 'Animal Store';

/** Servers that keep their pets in the same way, and are therefore compared with each other. */
export interface Group {
  readonly title: string;
  /** The ratios are those to the first server. */
  readonly servers: readonly Server[];
  /** Servers that could not be started, with the reason. */
  readonly missing: readonly string[];
  stop(): Promise<void>;
}

/** A group that can't be measured here, with the reason. */
export interface MissingGroup {
  readonly title: string;
  readonly missing: readonly string[];
}

/**
 * Starts the servers of a group.
 *
 * @param quick Only the Animal Store and the peer that the ratios refer to.
 */
type StartGroup = (quick: boolean) => Promise<Group | MissingGroup>;

export const GROUPS = {
  memory: async (quick) => {
    const peers = [
      () => startServer({ name: 'Fastify', command: peer('fastify') }),
      ...skipIf(quick, [
        () => startServer({ name: 'node:http, prepared bytes', command: peer('node-http') }),
        () => startServer({ name: 'Fastify, equipped', command: peer('fastify'), environment: { EQUIPPED: 'yes' } }),
        () => startServer({ name: 'Hono', command: peer('hono') }),
        () => startServer({ name: 'Express', command: peer('express') }),
      ]),
      () => startServer({ name: ANIMAL_STORE, command: animalStore(), environment: { STORAGE: 'memory' } }),
    ];
    return startGroup('in memory', peers);
  },

  mongodb: async (quick) => {
    const title = 'on MongoDB';
    const storage = await openStorage('mongodb');
    if ('missing' in storage) return { title, missing: [`every server: ${storage.missing}`] };
    const start = (name: string, command: readonly string[]) => () =>
      startServer({ name, command, environment: storage.environment() });
    const peers = [
      start('Fastify + driver', peer('fastify-mongodb')),
      ...skipIf(quick, [
        // No server of Node.js can exceed it.
        start('node:http, prepared bytes', peer('node-http')),
        start('Express + Mongoose', peer('express-mongoose')),
        start('NestJS + Mongoose', peer('nest-mongoose')),
      ]),
      start(ANIMAL_STORE, animalStore()),
    ];
    return startGroup(title, peers, { onStop: storage.close });
  },

  file: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'animal-store-bench-'));
    const reason = preparePocketBase();
    const start = (name: string, command: readonly string[], environment: NodeJS.ProcessEnv, api?: Api) => () =>
      startServer({ name, command, environment, ...(api && { api }) });
    const database = join(folder, 'db.json');
    writeFileSync(database, '{"pets":[]}');
    const peers = [
      ...skipIf(reason !== null, [() => startPocketBase(join(folder, 'pocketbase'))]),
      start('json-server', peer('json-server'), { DATABASE: database }, jsonServerApi),
      start(ANIMAL_STORE, animalStore(), { STORAGE: 'sqlite', SQLITE_FILE: join(folder, 'animals.db') }),
    ];
    return startGroup('in a file', peers, {
      missing: reason === null ? [] : [`PocketBase: ${reason}`],
      onStop: async () => rmSync(folder, { recursive: true, force: true }),
    });
  },
} satisfies Record<string, StartGroup>;

export type GroupName = keyof typeof GROUPS;

function skipIf<T>(condition: boolean, items: readonly T[]): readonly T[] {
  return condition ? [] : items;
}

/** Starts servers one after the other. If one fails, all end. */
async function startGroup(
  title: string,
  starts: readonly (() => Promise<Server>)[],
  { missing = [], onStop = async () => {} }: { missing?: readonly string[]; onStop?: () => Promise<void> } = {},
): Promise<Group> {
  const servers: Server[] = [];
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await onStop();
  };
  try {
    for (const start of starts) servers.push(await start());
    return { title, servers, missing, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

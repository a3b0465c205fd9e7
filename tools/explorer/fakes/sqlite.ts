// Fakes of what adapter-sqlite uses of Node.js: the file with its log, connections to it, and the thread that writes. They
// serve the modules that are imported after this one.

import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import { registerHooks, syncBuiltinESMExports } from 'node:module';
import workerThreads from 'node:worker_threads';
import type { World } from '../src/world.ts';

export const FILE = '/animals.db';

/** The inodes of the file, its log and its index: those that were opened, or others after one of them was replaced. */
const INODES = { opened: [1n, 2n, 3n], 'another file': [4n, 2n, 3n], 'another log': [1n, 5n, 3n] };

/** The values of a machine on which one process has the file open. */
export interface Machine {
  isOpen: boolean;
  files: keyof typeof INODES;
  /** What is committed. */
  rows: readonly string[];
  /** Whether the disk hangs, so that the thread waits. */
  isHanging: boolean;
  /** Late: it has met the hanging disk. */
  transaction: 'none' | 'in flight' | 'late';
  /** How many threads were started. The last one is used. */
  threads: number;
  /** The number of the last thread that has ended, and of the last whose end its process has noticed. */
  ended: number;
  noticed: number;
  /** How often something went wrong. */
  failures: number;
}

type CreateWriter = (place: never) => { commit(writes: never): Promise<unknown> };

/** The fakes of the present run. */
let present: {
  readonly machine: Machine;
  /** Full, broken: the insertion or the commit of the present step fails. */
  disk: 'works' | 'full' | 'broken';
  fail(message: string): void;
  startThread(thread: FakeWorker, data: never): void;
};

/**
 * Makes the machine of a run.
 *
 * @param createWriter The program of the thread.
 * @param mayFail Whether the next transaction may fail.
 */
export function createMachine(
  world: World,
  createWriter: CreateWriter,
  mayFail: (machine: Machine) => boolean,
): Machine {
  const machine = world.shared<Machine>({
    ...{ isOpen: false, files: 'opened', rows: [], isHanging: false, transaction: 'none' },
    ...{ threads: 0, ended: 0, noticed: 0, failures: 0 },
  });
  const threads: FakeWorker[] = [];

  function startThread(thread: FakeWorker, data: never): void {
    const number = threads.push(thread);
    machine.threads = number;
    const { commit } = createWriter(data);
    const isRunning = () => machine.ended < number;
    thread.postMessage = async (writes) => {
      machine.transaction = machine.isHanging ? 'late' : 'in flight';
      const done = () => commit(writes);
      const failing = (disk: 'full' | 'broken') => () => {
        machine.failures += 1;
        present.disk = disk;
        return commit(writes).finally(() => Object.assign(present, { disk: 'works' }));
      };
      const run = mayFail(machine)
        ? { done, 'the disk is full': failing('full'), 'the disk breaks': failing('broken') }
        : done;
      const reply = await world.command('commit', run, () => isRunning() && !machine.isHanging);
      machine.transaction = 'none';
      // A thread that has ended after the commit did not send the reply.
      if (isRunning()) thread.emit('message', reply);
    };
  }

  const fail = (message: string) => {
    world.failure ??= new Error(message);
  };
  present = { machine, disk: 'works', fail, startThread };
  world.event('the end of the thread is noticed', {
    process: 'main',
    can: () => machine.noticed < machine.ended,
    run() {
      machine.noticed = machine.ended;
      threads[machine.ended - 1]?.emit('exit', 1);
    },
  });
  return machine;
}

class FakeWorker extends EventEmitter {
  postMessage: (writes: never) => unknown = () => {};

  constructor(_program: URL, { workerData }: { workerData: object }) {
    super();
    present.startThread(this, workerData as never);
  }
}

const sqliteError = (message: string, errcode: number) =>
  Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });

/** As much of a connection as the statements `read` and `write` of the scenario need: rows of one column. */
class FakeDatabase {
  /** The statements that made the tables. Each run makes the same ones. */
  static schema: readonly string[] = [];
  isOpen = true;
  #transaction: string[] | null = null;

  constructor() {
    const { machine, fail } = present;
    if (machine.files !== 'opened') fail('another file is opened beside the log of this one');
    machine.isOpen = true;
  }

  exec(sql: string): void {
    if (sql.startsWith('BEGIN')) {
      if (this.#transaction !== null) throw sqliteError('there is a transaction', 1);
      this.#transaction = [];
    } else if (sql === 'COMMIT') {
      if (this.#transaction === null) throw sqliteError('there is no transaction', 1);
      if (present.disk === 'broken') throw sqliteError('disk I/O error', 10);
      this.#commit(this.#transaction);
      this.#transaction = null;
    } else if (sql.includes('CREATE')) {
      FakeDatabase.schema = sql.split(';');
    }
  }

  prepare(sql: string): object {
    return { all: (id: string) => this.#run(sql, id) };
  }

  close(): void {
    this.isOpen = false;
  }

  #run(sql: string, id: string): readonly (readonly (string | bigint)[])[] {
    if (sql === 'read') return present.machine.rows.map((row) => [row]);
    if (sql === 'write') return [[this.#insert(id)]];
    if (sql.startsWith('SELECT sql')) return FakeDatabase.schema.map((each) => [each]);
    // A new file has neither a mark nor tables. Later it has the mark and the format.
    return [sql.includes('count(') ? [0n, 0n, 0n] : [0x416e696dn, 1n, 0n]];
  }

  #insert(id: string): string {
    if (present.disk === 'full' && this.#transaction?.length === 0) {
      // SQLite rolls back some transactions that fail.
      this.#transaction = null;
      throw sqliteError('database or disk is full', 13);
    }
    if (this.#transaction === null) this.#commit([id]);
    this.#transaction?.push(id);
    return id;
  }

  #commit(ids: readonly string[]): void {
    const { machine, fail } = present;
    if (machine.files !== 'opened') fail(`${ids} are made in another file`);
    machine.rows = [...machine.rows, ...ids];
  }
}

const { statSync, statfsSync, existsSync, openSync, closeSync, realpathSync } = fs;
const isOwn = (path: unknown): path is string => typeof path === 'string' && path.startsWith(FILE);
Object.assign(fs, {
  existsSync: (path: string) => isOwn(path) || existsSync(path),
  openSync: (path: string, ...rest: [never]) => (isOwn(path) ? -1 : openSync(path, ...rest)),
  realpathSync: Object.assign((path: string) => realpathSync(path), {
    native: (path: string) => (isOwn(path) ? path : realpathSync.native(path)),
  }),
  closeSync: (fd: number) => fd === -1 || closeSync(fd),
  statfsSync: (path: string, ...rest: []) => (isOwn(path) ? { type: 0 } : statfsSync(path, ...rest)),
  statSync(path: string, ...rest: never[]) {
    if (!isOwn(path)) return statSync(path, ...rest);
    const part = [FILE, `${FILE}-wal`, `${FILE}-shm`].indexOf(path);
    return { dev: 1n, ino: INODES[present.machine.files][part], isFile: (): boolean => true };
  },
});
Object.assign(workerThreads, { Worker: FakeWorker });
syncBuiltinESMExports();
Object.assign(globalThis, { FakeDatabase });
const FAKE_SQLITE = 'data:text/javascript,export const DatabaseSync = globalThis.FakeDatabase;';
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'node:sqlite' ? { url: FAKE_SQLITE, shortCircuit: true } : next(specifier, context),
});

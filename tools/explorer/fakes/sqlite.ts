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

/** What a commit in the thread may come to. */
export type Outcome = 'done' | 'done, then it ends' | 'an insertion fails' | 'the commit fails';

/** How often something may go wrong. */
export const MAX_FAILURES = 2;

/** The values of a machine on which one process has the file open. */
export interface Machine {
  isOpen: boolean;
  files: keyof typeof INODES;
  /** What is committed. */
  rows: readonly string[];
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
  /** How the next transaction fails. */
  fails: 'insertion' | 'commit' | null;
  fail(message: string): void;
  startThread(thread: FakeWorker, data: never): void;
};

/**
 * Makes the machine of a run.
 *
 * @param createWriter The program of the thread.
 * @param outcomes What a commit may come to besides `done`, as long as few things went wrong.
 */
export function createMachine(world: World, createWriter: CreateWriter, outcomes: readonly Outcome[]): Machine {
  const machine = world.shared<Machine>({
    ...{ isOpen: false, files: 'opened', rows: [], isHanging: false, transaction: 'none' },
    ...{ threads: 0, ended: 0, noticed: 0, failures: 0 },
  });
  const threads: FakeWorker[] = [];

  function startThread(thread: FakeWorker, data: never): void {
    const number = threads.push(thread);
    machine.threads = number;
    const { commit } = createWriter(data);
    thread.postMessage = async (writes) => {
      machine.transaction = machine.isHanging ? 'late' : 'in flight';
      const possible = outcomesOf(() => commit(writes), number);
      const reply = await world.command('commit', possible, () => machine.ended < number && !machine.isHanging);
      machine.transaction = 'none';
      if (reply !== null) thread.emit('message', reply);
    };
  }

  function outcomesOf(commit: () => Promise<unknown>, thread: number) {
    const failing = (fails: 'insertion' | 'commit') => async () => {
      machine.failures += 1;
      present.fails = fails;
      const reply = await commit();
      present.fails = null;
      return reply;
    };
    async function ending(): Promise<null> {
      machine.failures += 1;
      machine.ended = thread;
      await commit();
      return null;
    }
    const all = {
      done: commit,
      'done, then it ends': ending,
      'an insertion fails': failing('insertion'),
      'the commit fails': failing('commit'),
    } satisfies Record<Outcome, unknown>;
    const possible: readonly Outcome[] = machine.failures < MAX_FAILURES ? ['done', ...outcomes] : ['done'];
    return Object.fromEntries(possible.map((outcome) => [outcome, all[outcome]]));
  }

  const fail = (message: string) => {
    world.failure ??= new Error(message);
  };
  present = { machine, fails: null, fail, startThread };
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
      if (present.fails === 'commit') throw sqliteError('disk I/O error', 10);
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
    if (present.fails === 'insertion' && this.#transaction?.length === 0) {
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

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

type CreateWriter = (place: never) => { commit(writes: never): Promise<unknown> };

/** The machine of the present run. */
let machine: Machine;

/** A machine on which one process has the file open. */
export class Machine {
  isOpen = false;
  files: keyof typeof INODES = 'opened';
  /** What is committed. */
  readonly rows: string[] = [];
  /** Whether the disk hangs, so that the thread waits. */
  isHanging = false;
  /** Full, broken: the insertion or the commit of the present step fails. */
  disk: 'works' | 'full' | 'broken' = 'works';
  /** Late: it has met the hanging disk. */
  transaction: 'none' | 'in flight' | 'late' = 'none';
  /** Those that were started. The last one is used. */
  readonly threads: FakeWorker[] = [];
  /**
   * How many threads have ended, and how many of these ends their process has noticed, as it does by `exit`. In between it still
   * sends to a thread that does not run.
   */
  ended = 0;
  noticed = 0;
  /** How often something went wrong. */
  failures = 0;

  readonly world: World;
  readonly createWriter: CreateWriter;
  readonly mayFail: () => boolean;

  /**
   * @param createWriter The program of the thread.
   * @param mayFail Whether the next transaction may fail.
   */
  constructor(world: World, createWriter: CreateWriter, mayFail: () => boolean) {
    this.world = world;
    this.createWriter = createWriter;
    this.mayFail = mayFail;
    machine = this;
    world.event('the end of the thread is noticed', {
      can: () => this.noticed < this.ended,
      run: () => {
        this.noticed = this.ended;
        this.threads[this.ended - 1]?.emit('exit', 1);
      },
    });
  }
}

function fail(message: string): void {
  machine.world.failure ??= new Error(message);
}

class FakeWorker extends EventEmitter {
  readonly #number: number;
  readonly #writer: ReturnType<CreateWriter>;

  constructor(_program: URL, { workerData }: { workerData: object }) {
    super();
    this.#number = machine.threads.push(this);
    this.#writer = machine.createWriter(workerData as never);
  }

  async postMessage(writes: never): Promise<void> {
    const isRunning = () => machine.ended < this.#number;
    const done = () => this.#writer.commit(writes);
    const failing = (disk: 'full' | 'broken') => () => {
      machine.failures += 1;
      machine.disk = disk;
      return done().finally(() => Object.assign(machine, { disk: 'works' }));
    };
    const failures = { 'the disk is full': failing('full'), 'the disk breaks': failing('broken') };
    machine.transaction = machine.isHanging ? 'late' : 'in flight';
    const reply = await machine.world.command(
      'commit',
      machine.mayFail() ? { done, ...failures } : done,
      () => isRunning() && !machine.isHanging,
    );
    machine.transaction = 'none';
    // A thread that has ended after the commit did not send the reply.
    if (isRunning()) this.emit('message', reply);
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
    if (machine.files !== 'opened') fail('another file is opened beside the log of this one');
    machine.isOpen = true;
  }

  exec(sql: string): void {
    if (sql.startsWith('BEGIN')) {
      if (this.#transaction !== null) throw sqliteError('there is a transaction', 1);
      this.#transaction = [];
    } else if (sql === 'COMMIT') {
      if (this.#transaction === null) throw sqliteError('there is no transaction', 1);
      if (machine.disk === 'broken') throw sqliteError('disk I/O error', 10);
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
    if (sql === 'read') return machine.rows.map((row) => [row]);
    if (sql === 'write') return [[this.#insert(id)]];
    if (sql.startsWith('SELECT sql')) return FakeDatabase.schema.map((each) => [each]);
    // Every other query gets this row. A new file has neither a mark nor tables. Later it has the mark and the format.
    return [sql.includes('count(') ? [0n, 0n, 0n] : [0x416e696dn, 1n, 0n]];
  }

  #insert(id: string): string {
    if (machine.disk === 'full' && this.#transaction?.length === 0) {
      // SQLite rolls back some transactions that fail.
      this.#transaction = null;
      throw sqliteError('database or disk is full', 13);
    }
    if (this.#transaction === null) this.#commit([id]);
    this.#transaction?.push(id);
    return id;
  }

  #commit(ids: readonly string[]): void {
    if (machine.files !== 'opened') fail(`${ids} are made in another file`);
    machine.rows.push(...ids);
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
    return { dev: 1n, ino: INODES[machine.files][part], isFile: (): boolean => true };
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

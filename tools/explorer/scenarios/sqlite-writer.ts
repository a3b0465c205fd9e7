import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import { registerHooks, syncBuiltinESMExports } from 'node:module';
import workerThreads from 'node:worker_threads';
import { type SeededError, trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

// The connection of SQLite: group commit in a thread that ends or hangs, on a disk that is full, and a file that is replaced. A
// write that is acknowledged is in the file and in every later read, and one whose error says that it was not made never is.
// None is made twice, or in another file. A write that begins after the failures succeeds.

const CONNECTION = 'packages/adapter-sqlite/src/connection.ts';
const FILES = 'packages/adapter-sqlite/src/file.ts';
const WRITER = 'packages/adapter-sqlite/src/writer.ts';
const PATHS = [CONNECTION, WRITER];

type Modules = typeof import('../../../packages/adapter-sqlite/src/connection.ts') &
  typeof import('../../../packages/adapter-sqlite/src/writer.ts');

interface Sizes {
  /** The writes of each client, one after the other. */
  readonly clients: readonly (readonly string[])[];
  /** What may go wrong, twice at most. */
  readonly bad: 'ends' | 'fails' | 'replaced' | 'hangs';
}

const FILE = '/animals.db';

/** The inodes of the file, its log and its index, if one of them was replaced or none. */
const INODES = { own: [1n, 2n, 3n], file: [4n, 2n, 3n], log: [1n, 5n, 3n] };

type Place = keyof typeof INODES;

/** What the present run does when the modules call the system. */
let machine: {
  place(): Place;
  open(): void;
  /** How the transaction fails, if it does. */
  fate(): 'insertion' | 'commit' | null;
  written(): readonly string[];
  commit(writes: readonly string[]): void;
  start(thread: FakeWorker, data: never): void;
};

class FakeWorker extends EventEmitter {
  postMessage: (message: never) => void = () => {};

  constructor(_program: URL, { workerData }: { workerData: object }) {
    super();
    machine.start(this, workerData as never);
  }
}

const sqliteError = (message: string, errcode: number) =>
  Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });

/** As much of a connection as reads and writes of rows of one column need. */
class FakeDatabase {
  static schema: readonly string[] = [];
  isOpen = true;
  #transaction: string[] | null = null;

  constructor() {
    machine.open();
  }

  exec(sql: string): void {
    if (sql.startsWith('BEGIN')) {
      if (this.#transaction !== null) throw sqliteError('there is a transaction', 1);
      this.#transaction = [];
    } else if (sql === 'COMMIT') {
      if (this.#transaction === null) throw sqliteError('there is no transaction', 1);
      if (machine.fate() === 'commit') throw sqliteError('disk I/O error', 10);
      machine.commit(this.#transaction);
      this.#transaction = null;
    } else if (sql.includes('CREATE')) {
      FakeDatabase.schema = sql.split(';');
    }
  }

  prepare(sql: string): object {
    return { all: (id: string) => this.#run(sql, id) };
  }

  #run(sql: string, id: string): (string | bigint)[][] {
    if (sql === 'read') return machine.written().map((each) => [each]);
    if (sql.startsWith('SELECT sql')) return FakeDatabase.schema.map((each) => [each]);
    if (sql !== 'write') return [sql.includes('count(') ? [0n, 0n, 0n] : [0x416e696dn, 1n, 0n]];
    if (machine.fate() === 'insertion' && this.#transaction?.length === 0) {
      // SQLite rolls back some transactions that fail.
      this.#transaction = null;
      throw sqliteError('database or disk is full', 13);
    }
    if (this.#transaction === null) machine.commit([id]);
    this.#transaction?.push(id);
    return [[id]];
  }

  close(): void {
    this.isOpen = false;
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
    const ino = INODES[machine.place()][path === FILE ? 0 : path.endsWith('-wal') ? 1 : 2];
    return { dev: 1n, ino, isFile: (): boolean => true };
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

const scenario =
  ({ clients, bad }: Sizes) =>
  ({ openConnection, createWriter }: Modules) =>
  (world: World) => {
    const shared = world.shared({
      isOpen: false,
      place: 'own' as Place,
      written: [] as readonly string[],
      thread: 0,
      /** The number of the last thread that has ended, and of the last whose end this process has noticed. */
      ended: 0,
      noticed: 0,
      isHanging: false,
      /** How often something has gone wrong. */
      errors: 0,
    });
    /** Writes whose errors said that they were not made. */
    const notMade: string[] = [];
    let fate: 'insertion' | 'commit' | null = null;
    let violation: string | null = null;
    const threads: FakeWorker[] = [];
    /** How often something had gone wrong when writes were sent that have no reply. */
    let sentAt: number | null = null;

    machine = {
      place: () => shared.place,
      open() {
        if (shared.place !== 'own') violation = 'another file is opened beside the log of this one';
      },
      fate: () => fate,
      written: () => shared.written,
      commit(writes) {
        if (shared.place !== 'own') violation = `${writes} are made in another file`;
        shared.written = [...shared.written, ...writes];
      },
      start(worker, data) {
        threads.push(worker);
        const number = threads.length;
        shared.thread = number;
        const { commit } = createWriter(data);
        worker.postMessage = (writes) => {
          /** What it replies is known at the end of the event. */
          const done = (hasReply = true) => {
            const reply = { outcomes: null as unknown };
            void commit(writes).then((outcomes) => {
              if (hasReply) reply.outcomes = outcomes;
              fate = null;
            });
            return reply;
          };
          const failing = (how: 'insertion' | 'commit') => () => {
            shared.errors += 1;
            fate = how;
            return done();
          };
          const endsAfter = () => {
            Object.assign(shared, { ended: number, errors: shared.errors + 1 });
            return done(false);
          };
          const run = {
            done: () => done(),
            ...(bad === 'ends' && { 'done, then it ends': endsAfter }),
            ...(bad === 'fails' && {
              'an insertion fails': failing('insertion'),
              'the commit fails': failing('commit'),
            }),
          };
          sentAt = shared.isHanging ? -1 : shared.errors;
          void world
            .command('commit', {
              can: () => shared.ended < number && !shared.isHanging,
              run: shared.errors < 2 ? run : { done: run.done },
            })
            .then(({ outcomes }) => {
              sentAt = null;
              if (outcomes !== null) worker.emit('message', outcomes);
            });
        };
      },
    };

    let opening: ReturnType<typeof openConnection> | null = null;
    const isLate = () => bad === 'hangs' && sentAt !== null && sentAt < shared.errors;
    const isWell = () => shared.place === 'own' && !shared.isHanging && !isLate() && shared.ended === shared.noticed;
    const writing = (id: string) =>
      async function write(): Promise<void> {
        const before = isWell() ? shared.errors : null;
        opening ??= openConnection(FILE, false);
        shared.isOpen = true;
        const { read, write: run } = await opening;
        const outcome = await run(['write', id]).catch((error: Error) => error);
        if (!(outcome instanceof Error)) {
          if (outcome[0]?.[0] !== id) throw new Error(`${id} got ${outcome}`);
          const rows = await read((found) => found, 'read');
          if (!rows.flat().includes(id)) throw new Error(`${id} is acknowledged, and not found`);
          return;
        }
        const reason = String(((outcome.cause ?? outcome) as Error).message);
        // After these it is not known whether the write was made.
        if (!/thread ended|no response/.test(reason)) notMade.push(id);
        if (before !== null && before === shared.errors) throw new Error(`nothing was wrong, and ${id} got: ${reason}`);
      };
    for (const [index, ids] of clients.entries()) world.client(`client ${index + 1}`, ids.map(writing));

    const event = (name: string, can: () => boolean, change: () => Partial<typeof shared>, may = true) =>
      world.event(name, { may, can, run: () => Object.assign(shared, change()) });
    const fails = (change: Partial<typeof shared>) => () => ({ ...change, errors: shared.errors + 1 });
    if (bad === 'replaced') {
      const isOwnFile = () => shared.isOpen && shared.place === 'own' && shared.errors === 0;
      event('replaced: file', isOwnFile, fails({ place: 'file' }));
      event('replaced: log', isOwnFile, fails({ place: 'log' }));
      event(
        'the file is put back',
        () => shared.place !== 'own',
        () => ({ place: 'own' }),
      );
    }
    if (bad === 'hangs') {
      const isHanging = () => shared.isHanging;
      event('the disk hangs', () => !shared.isHanging, fails({ isHanging: true }));
      event('the disk works again', isHanging, () => ({ isHanging: false }), false);
      world.pass(2_200, 1, isHanging);
    }
    if (bad === 'ends') {
      const end = () => fails({ ended: shared.thread })();
      event('the thread ends', () => shared.ended < shared.thread && shared.errors < 2, end);
      world.event('its end is noticed', {
        times: 9,
        process: 'main',
        can: () => shared.noticed < shared.ended,
        run() {
          shared.noticed = shared.ended;
          threads[shared.noticed - 1]?.emit('exit', 1);
        },
      });
    }
    world.always(() => {
      if (violation !== null) throw new Error(violation);
      if (new Set(shared.written).size < shared.written.length) throw new Error(`made twice: ${shared.written}`);
      const made = notMade.find((id) => shared.written.includes(id));
      if (made !== undefined) throw new Error(`${made} was reported as not made, and is`);
    });
  };

const trialOf = (title: string, sizes: Sizes, errors: readonly SeededError[]) =>
  trial<Modules>(title, PATHS, scenario(sizes), { errors });

await trialOf('2 writes, a thread that ends', { clients: [['a'], ['b']], bad: 'ends' }, [
  ['a thread that has ended is used', CONNECTION, 'writer?.hasEnded() !== false', 'writer === null'],
  ['nothing is committed', WRITER, "db.exec('COMMIT');", ''],
  ['reads are kept', CONNECTION, 'new Map<string, unknown>()', '((db as never)["kept"] ??= new Map())'],
]);
await trialOf('3 writes, a full disk', { clients: [['a', 'b'], ['c']], bad: 'fails' }, [
  ['a failed transaction stays open', WRITER, '        close();\n', ''],
  ['a transaction goes on after any error', WRITER, 'if (resultCode(error) === CONSTRAINT) ', ''],
]);
await trialOf('3 writes, a file that is replaced', { clients: [['a', 'b', 'c']], bad: 'replaced' }, [
  ['nothing is checked before a commit', WRITER, "checkFiles();\n        db.exec('COMMIT');", "db.exec('COMMIT');"],
  ['nothing is checked before the file is opened', WRITER, 'checkFiles();\n      opened', 'opened'],
  ['the file may be another', FILES, 'new Set([path, ...parts])', 'new Set(parts.slice(1))'],
  ['the log may be another', FILES, "['', '-wal', '-shm']", "['', '-shm']"],
]);
await trialOf('2 writes, a disk that hangs', { clients: [['a'], ['b']], bad: 'hangs' }, [
  ['a second transaction is sent', CONNECTION, 'if (pending !== null) throw', 'if (false) throw'],
]);

import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import workerThreads from 'node:worker_threads';
import { type TrialOptions, trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

// The writer of SQLite: group commit, and threads that end, can't be started or hang, on a file that is replaced. A write that
// is acknowledged is in the file, and one whose error says that it was not made never is. None is made twice, or in another file.
// A write that begins after the failures succeeds.

const GROUP_COMMIT = 'packages/adapter-sqlite/src/writing/group-commit.ts';
const THREAD = 'packages/adapter-sqlite/src/writing/writer-thread.ts';
const WRITER = 'packages/adapter-sqlite/src/writing/writer.ts';
const TRANSACTION = 'packages/adapter-sqlite/src/writing/transaction.ts';
const IDENTITY = 'packages/adapter-sqlite/src/connection/file-identity.ts';
const PATHS = [GROUP_COMMIT, THREAD, WRITER, IDENTITY];

type Write = readonly unknown[];

interface Writer {
  commit(writes: readonly Write[]): object;
  close(): void;
}

interface Modules {
  createGroupCommit(commit: (writes: readonly Write[]) => Promise<unknown>): {
    add(write: Write): Promise<unknown>;
    close(): Promise<void>;
  };
  createWriterThread(data: () => object): {
    commit(writes: readonly Write[]): Promise<unknown>;
    end(timeout: number): Promise<void>;
  };
  createWriter(data: object, openDatabase: () => object): Writer;
  identityOf(path: string): object;
}

interface Sizes {
  /** The writes of each client, one after the other. */
  readonly clients: readonly (readonly string[])[];
  readonly isReplaced?: boolean;
  /** Whether a thread may end at any time, or after it has committed. */
  readonly ends?: boolean;
  readonly canNotStart?: boolean;
  readonly hangs?: boolean;
  readonly closes?: boolean;
}

const FILE = '/animals.db';

/** In milliseconds. */
const CLOSE_TIMEOUT = 4_800;

/** The inodes of the file, its log and its index, if one of them was replaced or none. */
const INODES = { own: [1n, 2n, 3n], file: [4n, 2n, 3n], log: [1n, 5n, 3n], all: [4n, 5n, 6n] };

type Place = keyof typeof INODES;

/** What the present run does when the modules call the system. */
let machine: {
  place(): Place;
  commit(writes: readonly string[]): void;
  start(thread: FakeWorker, data: object): void;
};

class FakeWorker extends EventEmitter {
  send: (message: readonly Write[] | null) => void = () => {};

  constructor(_program: URL, { workerData }: { workerData: object }) {
    super();
    machine.start(this, workerData);
  }

  postMessage(message: readonly Write[] | null): void {
    this.send(message);
  }

  ref(): void {}

  unref(): void {}

  terminate(): void {}
}

const sqliteError = (message: string, errcode: number) =>
  Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });

/** As much of a connection as a write of one row needs. */
class FakeDatabase {
  isTransaction = false;
  #written: string[] = [];

  exec(sql: string): void {
    if (sql === 'ROLLBACK') this.isTransaction = false;
  }

  prepare(sql: string): object {
    const run = (_at: unknown, id: string) => {
      if (sql.startsWith('BEGIN')) {
        if (this.isTransaction) throw sqliteError('there is a transaction', 1);
        this.isTransaction = true;
        this.#written = [];
      } else if (sql === 'COMMIT') {
        machine.commit(this.#written);
        this.isTransaction = false;
      } else {
        this.#written.push(id);
      }
    };
    return { run, get: (id: string) => (sql === 'PRAGMA user_version' ? { user_version: 1 } : { id }) };
  }

  close(): void {}
}

const { statSync, openSync, closeSync, readlinkSync } = fs;
const inodeAt = (path: string): bigint =>
  INODES[machine.place()][path === FILE ? 0 : path.endsWith('-wal') ? 1 : 2] as bigint;
const isOwn = (path: unknown): path is string => typeof path === 'string' && path.startsWith(FILE);
/** A descriptor of the log is its inode after this. */
const DESCRIPTORS = 1_000_000;
Object.assign(fs, {
  statSync: (path: string, ...rest: never[]) =>
    isOwn(path) ? { dev: 1n, ino: inodeAt(path) } : statSync(path, ...rest),
  openSync: (path: string, ...rest: [never]) =>
    isOwn(path) ? DESCRIPTORS + Number(inodeAt(path)) : openSync(path, ...rest),
  closeSync: (fd: number) => fd > DESCRIPTORS || closeSync(fd),
  readlinkSync(path: string) {
    const inode = Number(/^\/proc\/self\/fd\/(\d+)$/.exec(path)?.[1]) - DESCRIPTORS;
    if (!(inode > 0)) return readlinkSync(path);
    return inodeAt(`${FILE}-wal`) === BigInt(inode) ? `${FILE}-wal` : `${FILE}-wal (deleted)`;
  },
});
Object.assign(workerThreads, { Worker: FakeWorker });
syncBuiltinESMExports();

const scenario =
  ({ clients, isReplaced = false, ends = false, canNotStart = false, hangs = false, closes = false }: Sizes) =>
  ({ createGroupCommit, createWriterThread, createWriter, identityOf }: Modules) =>
  (world: World) => {
    const shared = world.shared({
      place: 'own' as Place,
      written: [] as readonly string[],
      /** The file that the present thread has open. */
      opened: null as Place | null,
      thread: 0,
      /** The number of the last thread that has ended, and of the last whose end this process has noticed. */
      ended: 0,
      isStartable: true,
      isHanging: false,
      /** How often something has gone wrong. */
      errors: 0,
    });
    /** Writes whose errors said that they were not made. */
    const notMade: string[] = [];
    let [open, noticed] = [0, 0];
    let fate: 'fails' | null = null;
    let violation: string | null = null;

    const goWrong = () => {
      shared.errors += 1;
    };
    const isWell = () => shared.place === 'own' && shared.isStartable && !shared.isHanging && shared.ended === noticed;

    const threads: FakeWorker[] = [];
    machine = {
      place: () => shared.place,
      commit(writes) {
        if (fate === 'fails') throw sqliteError('database or disk is full', 13);
        if (shared.place !== 'own') violation = `${writes} are made in another file`;
        shared.written = [...shared.written, ...writes];
      },
      start(worker, data) {
        if (!shared.isStartable) throw new Error('no thread can be started');
        threads.push(worker);
        const number = threads.length;
        shared.thread = number;
        shared.opened = null;
        const writer = createWriter(data, () => new FakeDatabase());
        const isAlive = () => shared.ended < number;
        worker.send = (writes) => {
          const can = () => isAlive() && !shared.isHanging;
          if (writes === null) {
            void world.command('end', { can, run: () => writer.close() }).then(() => worker.emit('exit', 0));
            return;
          }
          const done = () => writer.commit(writes);
          const fails = () => {
            goWrong();
            fate = 'fails';
            const reply = writer.commit(writes);
            fate = null;
            return reply;
          };
          const endsAfter = () => {
            writer.commit(writes);
            shared.ended = number;
            goWrong();
            return null;
          };
          const run = ends ? { done, 'done, then it ends': endsAfter } : { done, fails };
          void world.command('commit', { can, run: shared.errors < 2 ? run : { done } }).then((reply) => {
            if (reply !== null) worker.emit('message', reply);
          });
        };
      },
    };

    const thread = createWriterThread(() => ({ path: FILE, identity }));
    const identity = identityOf(FILE);
    const commits = createGroupCommit((writes) => thread.commit(writes));

    const adding = (id: string) =>
      async function add(): Promise<void> {
        const before = isWell() ? shared.errors : null;
        open += 1;
        const result = await commits.add(['revokeKey', id, 1]).catch((error: Error) => error);
        open -= 1;
        if (!(result instanceof Error)) {
          if ((result as { id?: string } | null)?.id !== id) throw new Error(`${id} got ${JSON.stringify(result)}`);
          if (!shared.written.includes(id)) throw new Error(`${id} is acknowledged, and not in the file`);
          return;
        }
        const { message: reason } = (result.cause ?? result) as Error;
        // After these it is not known whether the write was made.
        if (!/thread ended|takes too long/.test(reason)) notMade.push(id);
        if (before !== null && before === shared.errors) throw new Error(`nothing was wrong, and ${id} got: ${reason}`);
      };
    for (const [index, ids] of clients.entries()) world.client(`client ${index + 1}`, ids.map(adding));

    const bad = (name: string, can: () => boolean, run: () => void) =>
      world.event(name, {
        may: true,
        can,
        run() {
          run();
          goWrong();
        },
      });
    if (isReplaced) {
      for (const place of ['file', 'log', 'all'] as const) {
        bad(
          `replaced: ${place}`,
          () => shared.place === 'own' && shared.errors === 0,
          () => {
            shared.place = place;
          },
        );
      }
      world.event('the file is put back', {
        may: true,
        can: () => shared.place !== 'own',
        run: () => {
          shared.place = 'own';
        },
      });
    }
    if (canNotStart) {
      bad(
        'no thread can be started',
        () => shared.isStartable,
        () => {
          shared.isStartable = false;
        },
      );
      world.event('threads can be started again', {
        may: true,
        can: () => !shared.isStartable,
        run: () => {
          shared.isStartable = true;
        },
      });
    }
    if (hangs) {
      bad(
        'the disk hangs',
        () => !shared.isHanging,
        () => {
          shared.isHanging = true;
        },
      );
      const run = () => {
        shared.isHanging = false;
      };
      if (!closes) world.event('the disk works again', { can: () => shared.isHanging, run });
    }
    if (hangs && !closes) world.pass(4_000, 1, () => shared.isHanging);
    if (ends) {
      bad(
        'the thread ends',
        () => shared.ended < shared.thread,
        () => {
          shared.ended = shared.thread;
        },
      );
      world.event('its end is noticed', {
        times: 9,
        process: 'main',
        can: () => noticed < shared.ended,
        run() {
          noticed = shared.ended;
          threads[noticed - 1]?.emit('exit', 1);
        },
      });
    }
    if (closes) {
      let isClosing = false;
      world.event('close', {
        process: 'main',
        may: true,
        can: () => open === clients.length,
        async run() {
          isClosing = true;
          await commits.close();
          if (open > 0) violation = 'closed before every call had ended';
          await thread.end(CLOSE_TIMEOUT);
          isClosing = false;
          if (!shared.isHanging && world.commands.size > 0) violation = 'closed before the thread has ended';
          // The process ends.
          world.timers.clear();
        },
      });
      world.finally(() => {
        if (isClosing) throw new Error('a close never ends');
      });
    }
    world.always(() => {
      if (violation !== null) throw new Error(violation);
      if (new Set(shared.written).size < shared.written.length) throw new Error(`made twice: ${shared.written}`);
      const made = notMade.find((id) => shared.written.includes(id));
      if (made !== undefined) throw new Error(`${made} was reported as not made, and is`);
    });
  };

const trialOf = (title: string, sizes: Sizes, errors: TrialOptions['errors'] = []) =>
  trial<Modules>(title, PATHS, scenario(sizes), { errors });

await trialOf('3 writes, a thread that ends', { clients: [['a', 'b'], ['c']], ends: true }, [
  [
    'a reply is for the next thread',
    THREAD,
    '// Replies and errors arrive through two ports.\n      if (worker !== started) return;',
    '',
  ],
  ['a thread that has ended is used', THREAD, '      worker = null;\n', ''],
  [
    'a batch whose thread has ended is made again',
    GROUP_COMMIT,
    'else rejectAll(batch, error);',
    'else await waitForLock(error);',
  ],
]);
await trialOf('2 writes, a thread that ends, none can be started', {
  clients: [['a', 'b']],
  ends: true,
  canNotStart: true,
});
await trialOf('3 writes, a full disk, a file that is replaced', { clients: [['a', 'b', 'c']], isReplaced: true }, [
  ['nothing is checked before a commit', TRANSACTION, 'beforeCommit();', ''],
  ['a failed transaction stays open', TRANSACTION, "if (db.isTransaction) db.exec('ROLLBACK');", ''],
  ['the file may be another', IDENTITY, 'inodeAt(path) === identity.database && ', ''],
  ['the log may be another', IDENTITY, 'if (inodeAt(log) !== identity.log) return false;', ''],
  ['a log that was moved is in place', IDENTITY, 'link !== null && link === knownLink', 'knownLink !== null'],
]);
await trialOf('3 writes, a disk that hangs', { clients: [['a', 'b'], ['c']], hangs: true });
await trialOf('a write, a disk that hangs, a close', { clients: [['a']], hangs: true, closes: true }, [
  ['a close waits for a thread that hangs', THREAD, "'exit', { signal: AbortSignal.timeout(timeout) }", "'exit'"],
  ['a close does not wait for the thread', THREAD, 'await once(', 'void once('],
]);

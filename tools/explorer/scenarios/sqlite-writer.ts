// The connection of SQLite: group commit in a thread that ends, on a disk that is full or hangs, in a file that is replaced.

import { FILE, Machine } from '../fakes/sqlite.ts';
import { type SeededError, trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

const CONNECTION = 'packages/adapter-sqlite/src/connection.ts';
const FILES = 'packages/adapter-sqlite/src/file.ts';
const THREAD = 'packages/adapter-sqlite/src/thread.ts';
const WRITER = 'packages/adapter-sqlite/src/writer.ts';

type Modules = typeof import('../../../packages/adapter-sqlite/src/connection.ts') &
  typeof import('../../../packages/adapter-sqlite/src/writer.ts');

/** How often something may go wrong in a run. */
const MAX_FAILURES = 2;

type Failure =
  | 'a transaction fails'
  | 'the thread ends'
  | 'the disk hangs'
  | 'the file is replaced'
  | 'the log is replaced';

interface Sizes {
  /** The writes of each client, one after the other. */
  readonly clients: readonly (readonly string[])[];
  /** What may go wrong. */
  readonly possible: readonly Failure[];
}

const scenario =
  ({ clients, possible }: Sizes) =>
  ({ openConnection, createWriter }: Modules) =>
  (world: World) => {
    const mayHappen = (failure: Failure) => possible.includes(failure) && machine.failures < MAX_FAILURES;
    const machine = new Machine(world, createWriter, () => mayHappen('a transaction fails'));
    const change = (changes: Partial<Machine>) => () => Object.assign(machine, changes);
    /** Whether a write that begins now succeeds, if nothing goes wrong meanwhile. */
    const isWell = () =>
      machine.files === 'opened' &&
      !machine.isHanging &&
      machine.transaction !== 'late' &&
      machine.ended === machine.noticed;

    function failure(name: Failure, can: () => boolean, run: () => void): void {
      const fail = () => {
        machine.failures += 1;
        run();
      };
      world.event(name, { may: true, can: () => mayHappen(name) && can(), run: fail });
    }
    const isFirst = () => machine.failures === 0;
    const isFirstAfterOpening = () => isFirst() && machine.isOpen;
    failure(
      'the thread ends',
      () => machine.ended < machine.threads.length,
      () => {
        machine.ended = machine.threads.length;
      },
    );
    failure('the disk hangs', isFirst, () => {
      machine.isHanging = true;
      if (machine.transaction !== 'none') machine.transaction = 'late';
    });
    failure('the file is replaced', isFirstAfterOpening, change({ files: 'another file' }));
    failure('the log is replaced', isFirstAfterOpening, change({ files: 'another log' }));
    world.event('the disk works again', { can: () => machine.isHanging, run: change({ isHanging: false }) });
    const isReplaced = () => machine.files !== 'opened';
    world.event('the file is put back', { may: true, can: isReplaced, run: change({ files: 'opened' }) });
    // As long as a call may take.
    world.pass(2_200, () => machine.isHanging && world.now() < 2_200);

    /** Writes whose errors said that they were not made. */
    const notMade: string[] = [];
    let opening: ReturnType<typeof openConnection> | null = null;

    const writing = (id: string) =>
      async function write(): Promise<void> {
        const wasWell = isWell();
        const before = machine.failures;
        opening ??= openConnection(FILE, false);
        const connection = await opening;
        const outcome = await connection.write(['write', id]).catch((error: Error) => error);
        if (outcome instanceof Error) {
          const reason = String(((outcome.cause ?? outcome) as Error).message);
          if (wasWell && before === machine.failures) throw new Error(`nothing was wrong, and ${id} got: ${reason}`);
          // After these it is not known whether the write was made.
          if (!/thread ended|no response/.test(reason)) notMade.push(id);
          return;
        }
        if (outcome[0]?.[0] !== id) throw new Error(`${id} got ${outcome}`);
        const rows = await connection.read((found) => found, 'read');
        if (!rows.flat().includes(id)) throw new Error(`${id} is acknowledged, and not found`);
      };
    for (const [index, ids] of clients.entries()) world.client(`client ${index + 1}`, ids.map(writing));

    world.always(() => {
      const { rows } = machine;
      if (new Set(rows).size < rows.length) throw new Error(`made twice: ${rows}`);
      const made = notMade.find((id) => rows.includes(id));
      if (made !== undefined) throw new Error(`${made} was reported as not made, and is`);
    });
  };

/** Rejects a commit while another one is pending, in thread.ts. */
const SECOND = "if (thread.pending !== null) throw unavailable(new Error('the disk takes too long to write'));";

const trialOf = (title: string, sizes: Sizes, errors: readonly SeededError[]) =>
  trial<Modules>(title, [CONNECTION, WRITER], scenario(sizes), errors);

await trialOf('2 writes, a thread that ends', { clients: [['a'], ['b']], possible: ['the thread ends'] }, [
  ['a thread that has ended is used', THREAD, 'if (thread === started) thread = null;', ''],
  ['nothing is committed', WRITER, "db.exec('COMMIT');", ''],
  ['reads are kept', CONNECTION, 'new Map<string, unknown>()', '((database as never)["kept"] ??= new Map())'],
]);
await trialOf('3 writes, a full disk', { clients: [['a', 'b'], ['c']], possible: ['a transaction fails'] }, [
  ['a failed transaction stays open', WRITER, '        close();\n', ''],
  ['a transaction goes on after any error', WRITER, 'if (resultCode(error) === CONSTRAINT) ', ''],
]);
const REPLACED: readonly Failure[] = ['the file is replaced', 'the log is replaced'];
await trialOf('3 writes, a file that is replaced', { clients: [['a', 'b', 'c']], possible: REPLACED }, [
  [
    'nothing is checked before a commit',
    WRITER,
    "checkPlace(place);\n        db.exec('COMMIT');",
    "db.exec('COMMIT');",
  ],
  ['nothing is checked before the file is opened', WRITER, 'checkPlace(place);\n      opened', 'opened'],
  ['the file may be another', FILES, '[path, ...parts].map', 'parts.slice(1).map'],
  ['the log may be another', FILES, "['', '-wal', '-shm']", "['', '-shm']"],
]);
await trialOf('2 writes, a disk that hangs', { clients: [['a'], ['b']], possible: ['the disk hangs'] }, [
  ['a second transaction is sent', THREAD, SECOND, ''],
]);

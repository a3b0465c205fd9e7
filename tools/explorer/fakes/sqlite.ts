// Fakes of what open.ts and thread.ts of adapter-sqlite use: the file that they read, and the thread that writes it. They
// serve the modules that are imported after this one.

import { EventEmitter } from 'node:events';
import { registerHooks, syncBuiltinESMExports } from 'node:module';
import workerThreads from 'node:worker_threads';
import type { World } from '../src/world.ts';

/**
 * `hanging`: it waits for the disk. `late`: the disk works again, and the thread has not replied since. `ended`: its process has
 * not noticed, and still sends to it. `gone`: it has, or no thread was started.
 */
export type ThreadState = 'well' | 'hanging' | 'late' | 'ended' | 'gone';

/** A write of the scenario: one statement, whose value becomes a row. */
type Write = readonly [statement: readonly [sql: string, id: string]];

/** The machine of the present run. */
let machine: Machine;

export class Machine {
  /** What is committed. */
  readonly rows: string[] = [];
  thread: FakeThread | null = null;
  readonly world: World;

  constructor(world: World) {
    this.world = world;
    machine = this;
  }
}

class FakeThread extends EventEmitter {
  state: ThreadState = 'well';

  constructor() {
    super();
    machine.thread = this;
  }

  async postMessage({ writes }: { readonly writes: readonly Write[] }): Promise<void> {
    const { rows, world } = machine;
    const isRunning = () => this.state === 'well' || this.state === 'late';
    const commit = () =>
      writes.map(([[, id]]) => {
        rows.push(id);
        return [[id]];
      });
    const reply = await world.command('commit', commit, isRunning);
    // A thread that has ended after the commit did not send the reply.
    if (!isRunning()) return;
    this.state = 'well';
    this.emit('message', reply);
  }

  become(state: ThreadState): void {
    this.state = state;
    if (state === 'gone') this.emit('exit', 1);
  }
}

/** Opens the connection that reads. Each of its statements has every row. */
const openDatabase = () => ({ db: { isOpen: true }, run: () => machine.rows.map((id) => [id]) });

Object.assign(workerThreads, { Worker: FakeThread });
syncBuiltinESMExports();
const fakeSchema = { CHECK: '', openDatabase, checkSchema() {}, connect: openDatabase };
Object.assign(globalThis, { fakeSchema });
const FAKE_SCHEMA = `data:text/javascript,export const { ${Object.keys(fakeSchema)} } = globalThis.fakeSchema;`;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === './schema.ts' && context.parentURL?.includes('/adapter-sqlite/')
      ? { url: FAKE_SCHEMA, shortCircuit: true }
      : next(specifier, context),
});

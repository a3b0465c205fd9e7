import type { World } from './world.ts';

/**
 * A replica set of MongoDB as the driver of one process sees it: the log of its primary, how much of it a majority has, and
 * perhaps an election.
 */
export interface ReplicaSet<Entry> {
  /** The primary that the driver knows. */
  primary(): object;
  log(): readonly Entry[];
  /** A linearizable read: the primary confirms that it is still the primary. */
  confirm(): Promise<void>;
  /** Reads the entries that a majority has. */
  read(name: string): Promise<readonly Entry[]>;
  /** Resolves once the majority has the entry, to the length of the log with it. */
  write(entry: Entry): Promise<number>;
  /** From now on another primary may be elected, once. */
  mayElect(): void;
}

/** @param stored The entries that a majority has at the start. */
export function createReplicaSet<Entry>(world: World, stored: readonly Entry[] = []): ReplicaSet<Entry> {
  const first = { address: 'a' };
  const shared = world.shared({
    /** The present primary, and the one that the driver knows. */
    term: first,
    known: first,
    log: stored,
    /** How much of the log a majority has, as far as the primary knows. */
    committed: stored.length,
    /** Whether the primary has committed a write of its own term. */
    hasOwn: true,
  });
  const isReached = () => shared.known === shared.term;
  const commit = () => {
    shared.committed = shared.log.length;
  };
  return {
    primary: () => shared.known,
    log: () => shared.log,
    confirm: () => world.command('confirm', { can: () => isReached() && shared.hasOwn, run: commit }),
    read: (name) => world.command(name, { can: isReached, run: () => shared.log.slice(0, shared.committed) }),
    async write(entry) {
      const length = await world.command('write', {
        can: isReached,
        run: () => {
          shared.log = [...shared.log, entry];
          return shared.log.length;
        },
      });
      await world.command('commit', { can: () => shared.hasOwn, run: commit });
      return length;
    },
    mayElect() {
      world.event('elect another primary', {
        may: true,
        run: () => {
          shared.term = { address: 'b' };
          shared.committed = stored.length;
          shared.hasOwn = false;
        },
      });
      world.event('the new primary commits a write of its term', {
        can: () => !shared.hasOwn,
        run: () => {
          shared.hasOwn = true;
          commit();
        },
      });
      world.event('the driver sees it', {
        can: () => !isReached(),
        run: () => {
          shared.known = shared.term;
        },
      });
    },
  };
}

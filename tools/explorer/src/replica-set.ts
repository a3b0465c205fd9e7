import type { World } from './world.ts';

/**
 * A replica set of MongoDB as the driver of one process sees it: the log of its primary, how much of it a majority has, and
 * perhaps an election.
 */
export interface ReplicaSet {
  /** The primary that the driver knows. */
  primary(): object;
  /** A linearizable read: the primary confirms that it is still the primary. */
  confirm(): Promise<void>;
  /** Reads the entries that a majority has. */
  read(): Promise<readonly number[]>;
  /** Resolves once the majority has the entry. */
  write(entry: number): Promise<void>;
  /** From now on another primary may be elected, once. */
  mayElect(): void;
}

export function createReplicaSet(world: World): ReplicaSet {
  const first = { address: 'a' };
  const shared = world.shared({
    /** The present primary, and the one that the driver knows. */
    term: first,
    known: first,
    log: [] as readonly number[],
    /** How much of the log a majority has, as far as the primary knows. */
    committed: 0,
    /** Whether the primary has committed a write of its own term. */
    hasOwn: true,
  });
  const isReached = () => shared.known === shared.term;
  const commit = () => {
    shared.committed = shared.log.length;
  };
  return {
    primary: () => shared.known,
    confirm: () => world.command('confirm', { can: () => isReached() && shared.hasOwn, run: commit }),
    read: () => world.command('find', { can: isReached, run: () => shared.log.slice(0, shared.committed) }),
    async write(entry) {
      await world.command('write', {
        can: isReached,
        run: () => {
          shared.log = [...shared.log, entry];
        },
      });
      await world.command('commit', { can: () => shared.hasOwn, run: commit });
    },
    mayElect() {
      world.event('elect another primary', {
        may: true,
        run: () => {
          shared.term = { address: 'b' };
          shared.committed = 0;
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

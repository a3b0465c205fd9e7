import { DomainError } from '@animal-store/domain';
import type { Document, MongoClient, TopologyDescriptionChangedEvent } from 'mongodb';

/**
 * A primary in one of its terms, as the driver knows it. The object stays the same as long as the driver knows this
 * primary without a break.
 */
export interface PrimaryTerm {
  /** `host:port` */
  readonly address: string;
  /** Identifies the election; each is greater than the ones before it. */
  readonly electionId: string;
}

/**
 * Follows the primary to which the driver sends operations, until `stop` is called. `current` returns the present one, or
 * null if there is none.
 */
export function followPrimary(client: Pick<MongoClient, 'on' | 'off'>) {
  /** Undefined before the first report. */
  let term: PrimaryTerm | null | undefined;
  // The driver reports a change before it hands out the new primary.
  function onChange({ newDescription }: TopologyDescriptionChangedEvent): void {
    const primary = [...newDescription.servers.values()].find(({ type }) => type === 'RSPrimary');
    const electionId = primary?.electionId?.toHexString();
    if (primary === undefined || electionId === undefined) term = null;
    else if (term?.address !== primary.address || term.electionId !== electionId) {
      term = { address: primary.address, electionId };
    }
  }
  client.on('topologyDescriptionChanged', onChange);
  return {
    current: () => term ?? null,
    stop: () => client.off('topologyDescriptionChanged', onChange),
    /** Takes the primary's response to `hello`: a client that was connected before has nothing to report. */
    onHello({ me, electionId }: Document): void {
      if (term === undefined && electionId) term = { address: me, electionId: electionId.toHexString() };
    },
  };
}

/** Runs a read, and resolves to a result that contains every write acknowledged before. */
export type ReadBarrier = <T>(read: () => Promise<T>) => Promise<T>;

/** Two rounds (confirm, confirm again, read) survive one election. */
const MAX_STEPS = 6;

/**
 * A new primary has every acknowledged write in its log, but it does not know yet that a majority has them: until it has
 * committed a write of its own term, reads with concern `majority` miss the latest of them. So a read runs only on a
 * primary whose term was confirmed, and its result counts only if that primary is still the one that the driver knows:
 * a read that waited for a server ran on whichever primary it found (docs/decisions/0016-reads-after-an-election.md).
 *
 * @param primary The present primary.
 * @param confirm A linearizable read: once it succeeds, the primary has committed a write of its own term.
 * @throws DomainError `storage_unavailable` if primaries change faster than they can be confirmed.
 */
export function createReadBarrier(primary: () => PrimaryTerm | null, confirm: () => Promise<unknown>): ReadBarrier {
  let confirmed: PrimaryTerm | null = null;
  let confirming: Promise<void> | null = null;

  async function confirmTerm(): Promise<void> {
    const term = primary();
    await confirm();
    // Another primary may be there by now: its term is another object.
    confirmed = term;
  }

  return async (read) => {
    for (let step = 1; step <= MAX_STEPS; step += 1) {
      const term = primary();
      if (term === null || term !== confirmed) {
        confirming ??= confirmTerm().finally(() => {
          confirming = null;
        });
        await confirming;
      } else {
        const result = await read();
        if (primary() === term) return result;
      }
    }
    throw new DomainError('storage_unavailable', 'the storage is electing a new primary: try again');
  };
}

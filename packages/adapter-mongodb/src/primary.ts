import { DomainError } from '@animal-store/domain';
import type { Document, MongoClient, TopologyDescriptionChangedEvent } from 'mongodb';

/**
 * A primary in one of its terms, as the driver knows it. It is compared by identity: the same object as before means that the
 * driver has known this primary in this term without a break.
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
  let term: PrimaryTerm | null = null;
  /** Whether the driver has reported: from then on it knows better than `hello`. */
  let hasReport = false;
  // The driver emits a change before any operation runs on the new primary.
  function onChange({ newDescription }: TopologyDescriptionChangedEvent): void {
    hasReport = true;
    const primary = [...newDescription.servers.values()].find(({ type }) => type === 'RSPrimary');
    const electionId = primary?.electionId?.toHexString();
    if (primary === undefined || electionId === undefined) term = null;
    else if (term?.address !== primary.address || term.electionId !== electionId) {
      term = { address: primary.address, electionId };
    }
  }
  client.on('topologyDescriptionChanged', onChange);
  return {
    current: () => term,
    stop: () => client.off('topologyDescriptionChanged', onChange),
    /** Takes the primary's response to `hello`: a client that was connected before has nothing to report. */
    onHello({ me, electionId }: Document): void {
      if (!hasReport && electionId) term = { address: me, electionId: electionId.toHexString() };
    },
  };
}

/** Runs a read, and resolves to a result that contains every write acknowledged before. */
export type ReadBarrier = <T>(read: () => Promise<T>) => Promise<T>;

/** Three end in a result: confirm while no primary is known, confirm the one that is known then, read. Twice, for an election. */
const MAX_STEPS = 6;

/**
 * A new primary has every acknowledged write in its log, but it does not know yet that a majority has them: until it has
 * committed a write of its own term, reads with concern `majority` miss the latest of them
 * (docs/decisions/0016-reads-after-an-election.md). So each step depends on the current term:
 *
 * | current term                          | step                                                      |
 * | ------------------------------------- | --------------------------------------------------------- |
 * | none, or not confirmed                | confirm it, once for all reads that wait; look again      |
 * | confirmed, the same after the read    | return the result                                         |
 * | confirmed, another one after the read | discard the result, which may be of the other; look again |
 *
 * @param confirm A linearizable read: once it succeeds, the primary has committed a write of its own term.
 * @throws DomainError `storage_unavailable` if no primary stays known for long enough; and the errors of `confirm` and `read`.
 */
export function createReadBarrier(currentTerm: () => PrimaryTerm | null, confirm: () => Promise<unknown>): ReadBarrier {
  let confirmedTerm: PrimaryTerm | null = null;
  let confirming: Promise<void> | null = null;

  async function confirmCurrentTerm(): Promise<void> {
    const term = currentTerm();
    await confirm();
    // If an election happened meanwhile, this is no longer the current object, and the next step confirms again.
    confirmedTerm = term;
  }

  return async (read) => {
    for (let step = 1; step <= MAX_STEPS; step += 1) {
      const term = currentTerm();
      if (term === null || term !== confirmedTerm) {
        confirming ??= confirmCurrentTerm().finally(() => {
          confirming = null;
        });
        await confirming;
      } else {
        const result = await read();
        if (currentTerm() === term) return result;
      }
    }
    throw new DomainError('storage_unavailable', 'the storage is electing a new primary: try again');
  };
}

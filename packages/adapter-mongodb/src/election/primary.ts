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

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

/** Follows the primary to which the driver sends operations. */
export interface PrimaryFollower {
  /** The present primary, or null if there is none. */
  current(): PrimaryTerm | null;
  /**
   * Learns the present primary of a client that was connected before: it reports nothing that it knew already.
   *
   * @param hello The primary's response to the command `hello`, sent after the follower was created.
   */
  start(hello: Document): void;
  stop(): void;
}

export function followPrimary(client: Pick<MongoClient, 'on' | 'off'>): PrimaryFollower {
  let term: PrimaryTerm | null | undefined;

  function see(address: string | undefined, electionId: string | undefined): void {
    if (address === undefined || electionId === undefined) term = null;
    else if (term?.address !== address || term.electionId !== electionId) term = { address, electionId };
  }

  // The driver reports a change before it hands out the new primary.
  function onChange({ newDescription }: Pick<TopologyDescriptionChangedEvent, 'newDescription'>): void {
    const primary = [...newDescription.servers.values()].find(({ type }) => type === 'RSPrimary');
    see(primary?.address, primary?.electionId?.toHexString());
  }

  client.on('topologyDescriptionChanged', onChange);
  return {
    current: () => term ?? null,
    start({ me, electionId }) {
      // An event is newer than anything else.
      if (term === undefined) see(me, electionId?.toHexString());
    },
    stop() {
      client.off('topologyDescriptionChanged', onChange);
    },
  };
}

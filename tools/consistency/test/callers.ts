import type { Client } from '@animal-store/client';
import { expect } from 'vitest';

/**
 * Starts callers that create pets one after the other until they are stopped.
 *
 * @param create Creates a pet with this name, which no other call has.
 */
export function startCallers(count: number, create: (name: string) => Promise<{ readonly id: bigint }>) {
  const created = new Map<string, bigint>();
  let running = true;
  async function createInTurn(caller: number): Promise<void> {
    for (let round = 0; running; round += 1) {
      const name = `${caller}-${round}`;
      created.set(name, (await create(name)).id);
    }
  }
  const ended = Promise.all(Array.from({ length: count }, (_, caller) => createInTurn(caller)));
  return {
    /** The ids of the pets that were acknowledged, by their names. */
    created,
    /** Waits until the callers have made progress. Rejects if one of them fails. */
    async until(isReached: () => boolean): Promise<void> {
      await Promise.race([ended, expect.poll(isReached).toBe(true)]);
    },
    async stop(): Promise<void> {
      running = false;
      await ended;
    },
    /** Expects that each acknowledged pet is stored once, and no other pet. */
    async expectStored(client: Client): Promise<void> {
      const stored: [string, bigint][] = [];
      for await (const { name, id } of client.allPets()) stored.push([name, id]);
      expect(stored).toHaveLength(created.size);
      expect(new Map(stored)).toEqual(created);
    },
  };
}

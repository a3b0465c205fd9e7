import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import type { ApiKey, NewPet, Pet } from '@animal-store/domain';
import type { Creation, Idempotency, PetSelection } from '@animal-store/domain/ports';
import { onTestFinished } from 'vitest';

/** The operations of the server of these tests, each atomic. */
export type Operations = ReturnType<typeof createDatabase>;

function createDatabase() {
  const pets = new Map<bigint, Pet>();
  const names = new Map<string, { id: bigint; fingerprint: string }>();
  const keys = new Map<string, ApiKey>();
  const nameOf = ({ holder, key }: Idempotency) => JSON.stringify([holder, key]);
  let lastId = 0n;

  function prepare(newPet: NewPet): Pet {
    lastId += 1n;
    return { id: lastId, ...newPet };
  }

  function change(id: string, changes: (key: ApiKey) => Partial<ApiKey>): ApiKey | null {
    const key = keys.get(id);
    if (key !== undefined) keys.set(id, { ...key, ...changes(key) });
    return keys.get(id) ?? null;
  }

  return {
    ping() {},
    add(newPet: NewPet, idempotency?: Idempotency): Creation | null {
      const earlier = idempotency && names.get(nameOf(idempotency));
      if (earlier !== undefined) {
        if (earlier.fingerprint !== idempotency?.fingerprint) return null;
        return { pet: pets.get(earlier.id) as Pet, created: false };
      }
      const pet = prepare(newPet);
      pets.set(pet.id, pet);
      if (idempotency) names.set(nameOf(idempotency), { id: pet.id, fingerprint: idempotency.fingerprint });
      return { pet, created: true };
    },
    find: (id: bigint) => pets.get(id) ?? null,
    list: ({ status, after, limit }: PetSelection) =>
      [...pets.values()]
        .filter((pet) => pet.id > after && (status === undefined || pet.status === status))
        .sort((a, b) => Number(a.id - b.id))
        .slice(0, limit),
    addKey: (key: ApiKey) => void (keys.has(key.id) || keys.set(key.id, key)),
    findKey: (digest: string) => [...keys.values()].find((key) => key.digest === digest) ?? null,
    listKeys: () => [...keys.values()].sort((a, b) => a.createdAt - b.createdAt),
    revokeKey: (id: string, at: number) => change(id, ({ revokedAt }) => ({ revokedAt: revokedAt ?? at })),
    pruneKeys(before: number): number {
      const ended = [...keys.values()].filter(
        ({ revokedAt, expiresAt }) => Math.min(revokedAt ?? before, expiresAt ?? before) < before,
      );
      for (const { id } of ended) keys.delete(id);
      return ended.length;
    },
    recordUse: (id: string, at: number) =>
      void change(id, ({ lastUsedAt }) => ({ lastUsedAt: Math.max(lastUsedAt ?? at, at) })),
    /** A transaction for broken copies: the prepared pet is stored when it is committed. */
    prepare,
    commit: (pet: Pet) => void pets.set(pet.id, pet),
    /** For broken copies: returns the id of the pet under an idempotency key; if there is none, this id is stored. */
    claim(idempotency: Idempotency, id: bigint): bigint {
      const name = nameOf(idempotency);
      if (!names.has(name)) names.set(name, { id, fingerprint: idempotency.fingerprint });
      return names.get(name)?.id as bigint;
    },
    remove: (id: bigint) => void pets.delete(id),
  };
}

/** Starts a server with an empty database for the running test, and returns its URL, with a password. */
export async function startDatabase(): Promise<string> {
  const database = createDatabase();
  const server = createServer((socket) => {
    const receive = messages(async (message) => {
      const [operation, given] = message as [keyof Operations, unknown[]];
      const result = (database[operation] as (...given: unknown[]) => unknown)(...given);
      // Later calls may end before a lookup.
      if (operation === 'findKey') await sleep(2);
      socket.write(frame(result));
    });
    socket.on('error', () => {}).on('data', receive);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `test://zoo:${PASSWORD}@127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The password in the URL of each database. */
export const PASSWORD = 'the-password-of-the-zoo';

/** A message as it goes over a connection: its length, and its value. */
export function frame(value: unknown): Buffer {
  const body = serialize(value);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(body.length);
  return Buffer.concat([length, body]);
}

/** Splits the data of a connection into messages. */
export function messages(onMessage: (value: unknown) => void): (data: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (data) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32LE()) {
      const end = 4 + rest.readUInt32LE();
      onMessage(deserialize(rest.subarray(4, end)));
      rest = rest.subarray(end);
    }
  };
}

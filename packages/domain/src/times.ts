import type { ApiKeyRepository } from './api-keys/api-key-repository.ts';
import { isIntegerFrom, LIMITS } from './pets/limits.ts';

/** @throws TypeError unless a value is a time as repositories store it. */
export function requireTime(value: unknown): void {
  const { min, max } = LIMITS.time;
  if (!isIntegerFrom(min, max, value))
    throw new TypeError('a time must be in whole milliseconds, in the range of a Date');
}

/** The same repository, whose methods reject with a TypeError if a time is not valid. */
export const requiringTimes = (keys: ApiKeyRepository): ApiKeyRepository => ({
  async add(key) {
    requireTime(key.createdAt);
    for (const time of [key.expiresAt, key.revokedAt, key.lastUsedAt]) if (time !== null) requireTime(time);
    return keys.add(key);
  },
  find: (digest) => keys.find(digest),
  list: (selection) => keys.list(selection),
  async revoke(id, at) {
    requireTime(at);
    return keys.revoke(id, at);
  },
  async recordUse(id, at) {
    requireTime(at);
    return keys.recordUse(id, at);
  },
});

import type { ApiKey } from '@animal-store/domain';
import { apiKeyId, type KeyStore } from '@animal-store/domain/ports';

/** API keys by id, in the order of their creation. */
export function createMemoryKeyStore(): KeyStore {
  const keys = new Map<string, ApiKey>();

  function change(id: string, changed: (key: ApiKey) => ApiKey): ApiKey | null {
    const key = keys.get(id);
    if (key === undefined) return null;
    const next = Object.freeze(changed(key));
    keys.set(id, next);
    return next;
  }

  return {
    add(key) {
      if (!keys.has(key.id)) keys.set(key.id, Object.freeze({ ...key }));
    },

    find(digest) {
      const key = keys.get(apiKeyId(digest));
      return key?.digest === digest ? key : null;
    },

    list() {
      return [...keys.values()].sort((a, b) => a.createdAt - b.createdAt);
    },

    revoke(id, at) {
      return change(id, (key) => ({ ...key, revokedAt: key.revokedAt ?? at }));
    },

    prune(before) {
      const ended = [...keys.values()].filter(
        ({ revokedAt, expiresAt }) => Math.min(revokedAt ?? before, expiresAt ?? before) < before,
      );
      for (const { id } of ended) keys.delete(id);
      return ended.length;
    },

    recordUse(id, at) {
      change(id, (key) => ({ ...key, lastUsedAt: Math.max(key.lastUsedAt ?? at, at) }));
    },
  };
}

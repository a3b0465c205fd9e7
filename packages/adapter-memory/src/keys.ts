import type { ApiKey } from '@animal-store/domain';
import { type ApiKeyRepository, apiKeyId, requiringTimes } from '@animal-store/domain/ports';

/** API keys by id. Only administrators list them, so they are sorted then. */
export function createMemoryApiKeyRepository(): ApiKeyRepository {
  const keys = new Map<string, ApiKey>();

  function change(id: string, changed: (key: ApiKey) => ApiKey): ApiKey | null {
    const key = keys.get(id);
    if (key === undefined) return null;
    const next = Object.freeze(changed(key));
    keys.set(id, next);
    return next;
  }

  return requiringTimes({
    async add(key) {
      if (!keys.has(key.id)) keys.set(key.id, Object.freeze({ ...key }));
    },

    async find(digest) {
      const key = keys.get(apiKeyId(digest));
      return key?.digest === digest ? key : null;
    },

    async list({ after, limit }) {
      const later = [...keys.values()].filter(({ id }) => id > after);
      return later.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
    },

    async revoke(id, at) {
      return change(id, (key) => ({ ...key, revokedAt: key.revokedAt ?? at }));
    },

    async recordUse(id, at) {
      change(id, (key) => ({ ...key, lastUsedAt: at }));
    },
  });
}

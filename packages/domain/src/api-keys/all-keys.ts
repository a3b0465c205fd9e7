import { LIMITS } from '../pets/limits.ts';
import type { ApiKey } from './api-key.ts';
import type { ApiKeyRepository } from './api-key-repository.ts';

/**
 * Reads the records of all pages, in ascending order of id. The last page is the first one that is not full.
 *
 * @throws DomainError `storage_unavailable`, for any record; TypeError if a page does not follow the one before, because the
 * reading would have no end.
 */
export async function* allKeys(keys: ApiKeyRepository): AsyncGenerator<ApiKey, void, undefined> {
  for (let after = ''; ; ) {
    const page = await keys.list({ after, limit: LIMITS.page.max });
    const last = page.at(-1)?.id ?? '';
    if (page.length > 0 && last <= after) throw new TypeError(`the API keys behind ${after} end with ${last}`);
    yield* page;
    if (page.length < LIMITS.page.max) return;
    after = last;
  }
}

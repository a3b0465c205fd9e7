import { LIMITS } from '../pets/limits.ts';
import type { ApiKey } from './api-key.ts';
import type { ApiKeyRepository } from './api-key-repository.ts';

/**
 * Reads the records of all pages, in ascending order of id.
 *
 * @throws DomainError `storage_unavailable`, for any record.
 */
export async function* allKeys(keys: ApiKeyRepository): AsyncGenerator<ApiKey, void, undefined> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page: readonly ApiKey[] = await keys.list({ after, limit: LIMITS.page.max });
    yield* page;
    after = page.at(-1)?.id;
  }
}

import type { PetStorage } from '@animal-store/domain/ports';
import { sql } from '@animal-store/test-servers/postgres';
import { onTestFinished } from 'vitest';
import { createPostgresStorage, type PostgresStorageOptions } from '../src/index.ts';

/** A storage that is closed when the running test ends. */
export function openStorage(url: string, options?: Partial<PostgresStorageOptions>): PetStorage {
  const storage = createPostgresStorage({ url, ...options });
  onTestFinished(() => storage.close());
  return storage;
}

/** The same URL for a new role, which is dropped when the test ends. */
export async function asRole(url: string, settings = ''): Promise<{ url: string; role: string }> {
  const role = `role_${crypto.randomUUID().slice(0, 8)}`;
  await sql(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'; ${settings.replaceAll('ROLE', `ROLE ${role}`)}`);
  onTestFinished(async () => {
    await sql(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  });
  return { url: url.replace(/\/\/[^@]*@/, `//${role}:secret@`), role };
}

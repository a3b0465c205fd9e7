import { createReadStream, openSync, statSync } from 'node:fs';
import { type Backup, unavailable } from '@animal-store/domain/ports';
import { examineClosed, readFailure } from './damage.ts';
import { isRejection, kindOf, toPortError, unusable, whenUnlocked } from './failures.ts';
import { pathOf, realPathOf, requireFile } from './file.ts';
import { createPartial } from './partial.ts';
import { checkSchema, connect, type Database, isWhole } from './schema.ts';

/**
 * Copies a file as it is at one moment, while other processes write it.
 *
 * @throws StorageMisconfigured, or DomainError `storage_unavailable`.
 */
export async function backupFile(file: string): Promise<Backup> {
  const path = realPathOf(pathOf(file));
  try {
    requireFile(path);
    using copy = createPartial(path);
    const check = (database: Database) => checkSchema(path, database);
    using source = (await whenUnlocked(() => connect(path, check))).db;
    source.prepare('VACUUM INTO ?').run(copy.path);
    const copied = connect(copy.path);
    using _ = copied.db;
    if (!isWhole(copy.path, copied)) {
      throw (await readFailure(copy.path)) ?? unusable(path, 'its copy is damaged, and perhaps it is, too');
    }
    // The open file outlives its name.
    const content = createReadStream('', { fd: openSync(copy.path, 'r'), highWaterMark: 2 ** 20 });
    return { size: statSync(copy.path).size, content };
  } catch (error) {
    if (kindOf(error).isDamage) throw unavailable((await examineClosed(path).catch(() => null))?.reason ?? error);
    // Such as a collation of an administrator's index, which only the program that made it has.
    if (!isRejection(error)) throw toPortError(path, error);
    throw unusable(path, `SQLite cannot copy it: ${error.message}`, { cause: error });
  }
}

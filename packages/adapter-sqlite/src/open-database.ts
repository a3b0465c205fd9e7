import { type FileIdentity, identityOf } from './connection/file-identity.ts';
import { openFile } from './connection/open-file.ts';
import { type KeyReads, prepareKeyReads } from './keys/key-statements.ts';
import { type PetReads, preparePetReads } from './pets/pet-statements.ts';
import { prepareFormatCheck } from './schema.ts';

/** A database that is ready for work, in this thread. */
export interface OpenDatabase {
  readonly pets: PetReads;
  readonly keys: KeyReads;
  readonly identity: FileIdentity;
  /** @throws UnusableFile if a newer version has changed the format too far. */
  readonly checkFormat: () => void;
  close(): void;
}

/**
 * @param path An absolute path.
 * @throws Error of SQLite, or UnusableFile.
 */
export function openDatabase(path: string): OpenDatabase {
  const db = openFile(path);
  return {
    pets: preparePetReads(db),
    keys: prepareKeyReads(db),
    identity: identityOf(path),
    checkFormat: prepareFormatCheck(db),
    close: () => db.close(),
  };
}

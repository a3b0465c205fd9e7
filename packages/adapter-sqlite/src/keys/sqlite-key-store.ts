import type { KeyStore } from '@animal-store/domain/ports';
import type { Connection } from '../connection/connection.ts';

export function createSqliteKeyStore({ read, write }: Connection): KeyStore {
  return {
    add: (key) => write('addKey', { ...key }),
    find: (digest) => read(({ keys }) => keys.find(digest)),
    list: () => read(({ keys }) => keys.list()),
    revoke: (id, at) => write('revokeKey', id, at),
    prune: (before) => write('pruneKeys', before),
    recordUse: (id, at) => write('recordKeyUse', id, at),
  };
}

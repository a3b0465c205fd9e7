import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import pg from 'pg';

/** The operator's part if a session is not that of one client. */
export const POOLER = 'a pooler must be in session mode, and the URL may have only options that it allows';

export const TOO_FEW_PRIVILEGES = 'the role has too few privileges';

/** Somebody has changed the tables: the statements are always the same. */
const CHANGED = 'the tables are not as Animal Store has created them: restore them';

/** Advice for the operator by the server's code (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const MISCONFIGURATIONS: Readonly<Record<string, string>> = {
  // The message of the driver.
  'The server does not support SSL connections': 'sslmode in the URL, or PGSSLMODE, asks for TLS',
  '08P01': POOLER,
  '26000': POOLER,
  '28000': 'the server rejects the role or its way of authentication',
  '28P01': 'the server rejects the user or the password',
  '3D000': 'the database does not exist: create it',
  '3F000': 'the schema in which tables are created does not exist, or the role may not use it',
  '42501': TOO_FEW_PRIVILEGES,
  '42703': CHANGED,
  '42804': CHANGED,
  '42883': CHANGED,
  '42P01': 'a table is missing: restore the database',
  '42P05': POOLER,
  '42P10': 'an index is missing: create pets_by_idempotency_key as in a new database',
  '42P07': 'the tables are those of another program, name another database or schema',
};

/** Classes of rejected statements: unsupported features, invalid data, violated constraints, wrong SQL, limits, triggers. */
const REJECTIONS: ReadonlySet<string> = new Set(['0A', '21', '22', '23', '42', '44', '54', 'P0']);

/** The codes of a statement that may succeed when it is repeated: serialization failure, deadlock. */
const ROLLED_BACK: ReadonlySet<string> = new Set(['40001', '40P01']);

/** The code of a row whose id another row has, or a value for which an administrator has made a unique index. */
const TAKEN = '23505';

/** The code of a server that can't be written to. */
export const READ_ONLY = '25006';

/** The code of an error of the server; empty for any other error. */
function codeOf(failure: unknown): string {
  return (failure instanceof pg.DatabaseError && failure.code) || '';
}

/** The kinds after which a connection is kept. */
export const KEPT: ReadonlySet<string> = new Set(['rolled back', 'taken', 'rejection']);

/**
 * What a failure of a statement says, and what becomes of its connection and of the statement:
 *
 * | kind               | what happened                                                     | connection | statement   |
 * | ------------------ | ----------------------------------------------------------------- | ---------- | ----------- |
 * | `no response`      | an error of the driver or the network: it may still be worked on  | is lost    | fails       |
 * | `read-only`        | a proxy may lead the next connection to another server            | is closed  | is repeated |
 * | `rolled back`      | it may succeed if it is repeated                                  | is kept    | is repeated |
 * | `misconfiguration` | waiting does not help, the operator must change something         | is closed  | fails       |
 * | `taken`            | another row has its id: `insert` takes others                     | is kept    | fails       |
 * | `rejection`        | the server rejects it or its values, which is a defect            | is kept    | fails       |
 * | `other`            | another error of the server                                       | is closed  | fails       |
 */
export function kindOf(failure: unknown) {
  const code = codeOf(failure);
  if (code === '') return 'no response';
  if (code === READ_ONLY) return 'read-only';
  if (ROLLED_BACK.has(code)) return 'rolled back';
  if (code === TAKEN) return 'taken';
  if (code in MISCONFIGURATIONS) return 'misconfiguration';
  return REJECTIONS.has(code.slice(0, 2)) ? 'rejection' : 'other';
}

/**
 * A failure of a call as the ports throw it: `storage_unavailable`, unless it shows a defect. The message is for the caller
 * and has no driver text.
 */
export function toPortError(failure: unknown): unknown {
  // These may quote rows, with names and idempotency keys.
  if (failure instanceof pg.DatabaseError) Object.assign(failure, { detail: undefined, where: undefined });
  // A TypeError shows a defect: an argument is missing or has the wrong type.
  if (DomainError.is(failure) || failure instanceof TypeError || kindOf(failure) === 'rejection') return failure;
  return unavailable(causeOf(failure));
}

/** The failure of a connection: a rejection is that of an option in the URL or a setting, not of a statement. */
export function toConnectionError(failure: unknown): unknown {
  const kind = kindOf(failure);
  // A proxy may lead the next connection to another server.
  if (kind === 'read-only') return failure;
  const cause = causeOf(failure);
  if (kind !== 'rejection') return unavailable(cause);
  return unavailable(new StorageMisconfigured(`the server rejects the connection: ${cause.message}`, { cause }));
}

/** The cause of an outage, for the log: the driver's message without attached objects. */
function causeOf(failure: unknown): Error {
  if (StorageMisconfigured.is(failure)) return failure;
  // A server has several addresses, none of which accepts connections.
  const errors: readonly Error[] = failure instanceof AggregateError ? failure.errors : [failure as Error];
  const message = errors.map((error) => error.message).join(', ');
  const code = (failure as { code?: unknown }).code;
  const cause = Object.assign(new Error(message), { code });
  const advice = MISCONFIGURATIONS[codeOf(failure) || message];
  if (advice === undefined) return cause;
  return new StorageMisconfigured(`${advice}: ${message}`, { cause });
}

import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import pg from 'pg';

/** The operator's part if a session is not that of one client. */
export const POOLER = 'a pooler must be in session mode, and the URL may have only options that it allows';

export const TOO_FEW_PRIVILEGES = 'the role has too few privileges';

/** In the message of a statement that came too late. */
export const CALL_HAS_ENDED = 'animal_store.call_has_ended';

/** What one failure means for the call, for others, and for the operator. */
interface Meaning {
  /** Codes of the server, or their classes (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
  readonly codes?: readonly string[];
  /** What the port throws: `storage_unavailable`, or the failure itself, which shows a defect. */
  readonly port: 'unavailable' | 'defect';
  /** What becomes of the connection of the statement. The server may still work on an abandoned one. */
  readonly connection: 'kept' | 'closed' | 'abandoned';
  /** Both pools, with the connections of other calls. They are checked by asking what is missing. */
  readonly pools: 'kept' | 'checked' | 'closed';
  /** Whether the statement is sent again. */
  readonly repeated: 'never' | 'at once' | 'after a pause';
  /** Whether other records of the same statement may succeed without the one that fails. */
  readonly isOfOne: boolean;
  /** What the operator must change, before the message of the server. */
  readonly advice?: string;
}

/** A failure of one statement. */
const ALONE = { port: 'unavailable', connection: 'kept', pools: 'kept', repeated: 'never', isOfOne: false } as const;
/** The next connection may not have it. */
const CLOSED = { ...ALONE, connection: 'closed' } as const;

/** The kinds of failures. Only tables that are not those of the open connections end the work of others. */
const MEANINGS = {
  // Nothing was sent.
  'not begun': ALONE,
  // Errors of the driver and the network.
  'no response': { ...ALONE, connection: 'abandoned' },
  // The driver, or JSON, has no form of a value. A part of the statement may have been sent.
  'wrong argument': { ...ALONE, port: 'defect', connection: 'abandoned', isOfOne: true },
  // A proxy may lead the next connection to another server.
  'read-only': { ...CLOSED, codes: ['25006'], repeated: 'after a pause' },
  // Serialization failure, deadlock.
  'rolled back': { ...ALONE, codes: ['40001', '40P01'], repeated: 'at once' },
  // A network or a stopped server has held it back, or the clock of the server was set: a new connection learns it.
  late: { ...CLOSED, repeated: 'at once' },
  // A time limit of the session.
  cancelled: { ...ALONE, codes: ['57014', '55P03'] },
  // Another row has its id, or a value for which an administrator has made a unique index.
  taken: { ...ALONE, codes: ['23505'], isOfOne: true },
  // Unsupported features, invalid data, violated constraints, wrong SQL, limits, exceptions of triggers.
  rejected: { ...ALONE, codes: ['0A', '21', '22', '23', '42', '44', '54', 'P0'], port: 'defect', isOfOne: true },
  denied: { ...ALONE, codes: ['42501'], advice: TOO_FEW_PRIVILEGES },
  // The statements are always the same, so the tables are not.
  changed: {
    ...{ ...ALONE, codes: ['42703', '42804', '42883', '42P01', '42P10'], pools: 'checked' },
    advice: 'the tables are not as Animal Store has created them',
  },
  // Any error with advice, or of a connection, from a function that the statement has called.
  'of a trigger': { ...ALONE, isOfOne: true, advice: 'a trigger or a function of an administrator fails, correct it' },
  'another database': { ...ALONE, pools: 'closed' },
  // Of a connection.
  'shared session': { ...CLOSED, codes: ['08P01', '26000', '42P05'], advice: POOLER },
  role: { ...CLOSED, codes: ['28000'], advice: 'the server rejects the role or its way of authentication' },
  password: { ...CLOSED, codes: ['28P01'], advice: 'the server rejects the user or the password' },
  'no database': { ...CLOSED, codes: ['3D000'], advice: 'the database does not exist: correct the URL, or create it' },
  'no schema': {
    ...{ ...CLOSED, codes: ['3F000'] },
    advice: 'the schema in which tables are created does not exist, or the role may not use it',
  },
  'other tables': {
    ...{ ...CLOSED, codes: ['42P07'] },
    advice: 'tables of these names exist without animal_store: it is missing, or they are those of another program',
  },
  'no TLS': {
    ...{ ...CLOSED, codes: ['The server does not support SSL connections'] },
    advice: 'sslmode in the URL, or PGSSLMODE, asks for TLS',
  },
  other: CLOSED,
} as const satisfies Record<string, Meaning>;

type Kind = keyof typeof MEANINGS;

const KINDS: ReadonlyMap<string, Kind> = new Map(
  Object.entries<Meaning>(MEANINGS).flatMap(([kind, { codes = [] }]) => codes.map((code) => [code, kind as Kind])),
);

/** The tables are not those for which the connections were opened: nothing is written before new ones have checked them. */
export class AnotherDatabase extends StorageMisconfigured {}

export function kindOf(failure: unknown): Kind {
  if (failure instanceof AnotherDatabase) return 'another database';
  if (failure instanceof TypeError) return 'wrong argument';
  // That of a new connection.
  if (DomainError.is(failure)) return failure.cause instanceof AnotherDatabase ? 'another database' : 'not begun';
  if (!(failure instanceof pg.DatabaseError)) return KINDS.get((failure as Error)?.message) ?? 'no response';
  const { code = '', where, message } = failure;
  if (message.includes(CALL_HAS_ENDED)) return 'late';
  const kind = KINDS.get(code) ?? KINDS.get(code.slice(0, 2)) ?? 'other';
  // The context of an error is that of functions and of the statements in them
  // (https://www.postgresql.org/docs/current/protocol-error-fields.html). Ours is that of the tables' creation.
  const isOurs = where === undefined || where.includes('inline_code_block');
  const isOfData = !('advice' in MEANINGS[kind]) && kind !== 'read-only' && !code.startsWith('08');
  return isOurs || isOfData ? kind : 'of a trigger';
}

export const meaningOf = (failure: unknown): Meaning => MEANINGS[kindOf(failure)];

/** The error of a server that can't be written to. */
export function readOnly(message: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError(message, 0, 'error'), { code: MEANINGS['read-only'].codes[0] });
}

/**
 * A failure of a call as the ports throw it: `storage_unavailable`, unless it shows a defect. The message is for the caller
 * and has no driver text.
 */
export function toPortError(failure: unknown): unknown {
  const isUnchanged = DomainError.is(failure) || meaningOf(failure).port === 'defect';
  return isUnchanged ? withoutRows(failure) : unavailable(causeOf(failure));
}

/** Some parts of an error of the server may quote rows, with names and idempotency keys. Of its context a function is kept. */
function withoutRows(failure: unknown): unknown {
  if (!(failure instanceof pg.DatabaseError)) return failure;
  return Object.assign(failure, { detail: undefined, internalQuery: undefined, where: functionOf(failure) });
}

const functionOf = ({ where = '' }: { where?: string | undefined }) =>
  /^PL.* function [\w."$]+\(.*?\)/m.exec(where)?.[0];

/** The failure of a connection: a rejection is that of an option in the URL or a setting, not of a statement. */
export function toConnectionError(failure: unknown): unknown {
  const kind = kindOf(failure);
  // A proxy may lead the next connection to another server.
  if (kind === 'read-only') return failure;
  const cause = causeOf(failure);
  if (kind !== 'rejected') return unavailable(cause);
  return unavailable(new StorageMisconfigured(`the server rejects the connection: ${cause.message}`, { cause }));
}

/** The cause of an outage, for the log: the driver's message without attached objects. */
function causeOf(failure: unknown): Error {
  if (StorageMisconfigured.is(failure)) return failure;
  // A server has several addresses, none of which accepts connections.
  const errors: readonly Error[] = failure instanceof AggregateError ? failure.errors : [failure as Error];
  const message = errors.map((error) => error.message).join(', ');
  const cause = Object.assign(new Error(message), { code: (failure as { code?: unknown }).code });
  const { advice } = meaningOf(failure);
  if (advice === undefined) return cause;
  const name = failure instanceof pg.DatabaseError && functionOf(failure);
  return new StorageMisconfigured([advice, name, message].filter(Boolean).join(': '), { cause });
}

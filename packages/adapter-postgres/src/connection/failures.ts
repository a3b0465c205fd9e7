import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import pg from 'pg';

/** Advice for the operator by the server's code (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const MISCONFIGURATIONS: Readonly<Record<string, string>> = {
  '28000': 'the server rejects the role or its way of authentication',
  '28P01': 'the server rejects the user or the password',
  '3D000': 'the database does not exist: create it',
  '3F000': 'the schema in which tables are created does not exist, or the role may not use it',
  '42501': 'the role has too few privileges',
  '42P07': 'the tables are those of another program, name another database or schema',
};

/** Classes of errors that show a defect: unsupported features, invalid data, violated constraints, wrong SQL. */
const DEFECTS: ReadonlySet<string> = new Set(['0A', '21', '22', '23', '42']);

/** The server has rolled the statement back, which may succeed when it is repeated: serialization failure, deadlock. */
const REPEATABLE: ReadonlySet<string> = new Set(['40001', '40P01']);

/** The code of an error of the server; empty for any other error. */
function codeOf(failure: unknown): string {
  return (failure instanceof pg.DatabaseError && failure.code) || '';
}

export function mustBeRepeated(failure: unknown): boolean {
  return REPEATABLE.has(codeOf(failure));
}

/** Whether the server rejected a statement or its values. */
export function isDefect(failure: unknown): boolean {
  const code = codeOf(failure);
  return DEFECTS.has(code.slice(0, 2)) && !(code in MISCONFIGURATIONS);
}

/** Whether a row has the same key as a stored one. */
export function isDuplicate(failure: unknown, constraint: string): boolean {
  return codeOf(failure) === '23505' && (failure as pg.DatabaseError).constraint === constraint;
}

/**
 * A failure of a call as the ports throw it: `storage_unavailable`, unless it shows a defect. The message is for the caller
 * and has no driver text. The cause is for the log: the driver's message without attached objects.
 */
export function toPortError(failure: unknown): unknown {
  // The driver throws a TypeError for a value that it can't send.
  if (DomainError.is(failure) || failure instanceof TypeError || isDefect(failure)) return failure;
  return unavailable(StorageMisconfigured.is(failure) ? failure : causeOf(failure as Error));
}

function causeOf(failure: Error & { code?: unknown }): Error {
  // A server has several addresses, none of which accepts connections.
  const errors: readonly Error[] = failure instanceof AggregateError ? failure.errors : [failure];
  const message = errors.map((error) => error.message).join(', ');
  const cause = Object.assign(new Error(message), { code: failure.code });
  const misconfiguration = MISCONFIGURATIONS[codeOf(failure)];
  return misconfiguration === undefined
    ? cause
    : new StorageMisconfigured(`${misconfiguration}: ${message}`, { cause });
}

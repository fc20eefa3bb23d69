import pg from 'pg';
import { ConflictError, RefusedError, StorageFullError, UnavailableError } from '../store.ts';

/** Error codes, from https://www.postgresql.org/docs/current/errcodes-appendix.html. */
const uniqueViolation = '23505';
const serializationFailure = '40001';
const deadlockDetected = '40P01';
const diskFull = '53100';

/** What a server says that cannot serve now, and may later. */
const unavailable = new Set([
  '25006', // read-only: a standby, or what was a primary a moment ago
  '25P03', // the transaction stood still for too long
  '53300', // too many connections
  '55P03', // a lock was not to be had in time
  '57014', // cancelled, since it took too long
  '57P01', // the server is shut down
  '57P02', // the server crashed
  '57P03', // the server starts
  '57P05', // the connection stood still for too long
]);

/** What a server says that has no use for whoever asks; the class of failed authentication, `28`, is another. */
const refused = new Set([
  '3D000', // no such database
  '42501', // not allowed
  '42P07', // a table of that name is there already: somebody else's
]);

/** What `pg` says by its words alone where the password is missing, or where only one of the two speaks TLS; and codes of TLS. */
const refusedWords = /^(SASL|The server does not support SSL connections)/;
const untrusted = /CERT|_LEAF_SIGNATURE$/;

/** What the operating system says when a server is not to be reached. */
const systemErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT', // its socket's file
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
]);

/** Faults of a connection that `pg` tells by their words alone. */
const connectionWords =
  /^(Connection terminated|Client has encountered a connection error|timeout expired|timeout exceeded when trying to connect|Query read timeout)/;

/**
 * Whether the same transaction may work when it is run again: others were faster
 * (https://www.postgresql.org/docs/current/transaction-iso.html#XACT-SERIALIZABLE).
 */
export function isOvertaken(error: unknown): boolean {
  const code = codeOf(error);
  return code === serializationFailure || code === deadlockDetected;
}

/** Whether the connection that this came over is of no more use. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return error instanceof Error;
  return error.severity === 'FATAL' || error.severity === 'PANIC';
}

/** The port's error for what `pg` threw, where it has one; else the error itself. */
export function translateError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = codeOf(error) ?? '';
  // The detail would name what collides: an e-mail address, the hash of a token.
  if (code === uniqueViolation) {
    const { table = '?', constraint = '?' } = error as pg.DatabaseError;
    return new ConflictError(`Cannot store what is there already: ${table}, ${constraint}`, { cause: error });
  }
  if (code === diskFull) {
    return new StorageFullError(`Cannot write to the database: ${error.message}`, { cause: error });
  }
  const isRefused =
    code.startsWith('28') || refused.has(code) || refusedWords.test(error.message) || untrusted.test(code);
  if (isRefused) return new RefusedError(`Cannot use the database: ${error.message}`, { cause: error });
  const isUnavailable =
    isOvertaken(error) ||
    unavailable.has(code) ||
    code.startsWith('08') || // the class of broken connections
    systemErrors.has(code) ||
    connectionWords.test(error.message);
  if (!isUnavailable) return error;
  return new UnavailableError(`Cannot get to the database: ${error.message}`, { cause: error });
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

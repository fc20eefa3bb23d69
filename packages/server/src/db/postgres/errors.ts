import pg from 'pg';
import { ConflictError, RefusedError, StorageFullError, UnavailableError } from '../store.ts';

/** Error codes, from https://www.postgresql.org/docs/current/errcodes-appendix.html. */
const uniqueViolation = '23505';
const serializationFailure = '40001';
const deadlockDetected = '40P01';
const diskFull = '53100';

/** Temporary errors of the server. */
const unavailable = new Set([
  '25006', // read-only: a standby, or a former primary
  '25P03', // idle in a transaction for too long
  '53300', // too many connections
  '55P03', // lock not available in time
  '57014', // statement timeout
  '57P01', // the server is shut down
  '57P02', // the server crashed
  '57P03', // the server starts
  '57P05', // idle for too long
]);

/** Errors of a wrong configuration. The class `28`, failed authentication, is among them too. */
const refused = new Set([
  '3D000', // the database does not exist
  '42501', // insufficient privilege
  '42P07', // a table exists already that Tenon did not create
]);

/** Errors of `pg` without a code: a missing password, and a server without TLS. */
const refusedMessages = /^(SASL|The server does not support SSL connections)/;
/** Error codes of TLS for untrusted certificates. */
const untrustedCodes = /CERT|_LEAF_SIGNATURE$/;

/** Error codes of Node.js for an unreachable server. */
const systemErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT', // a Unix domain socket
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
]);

/** Connection errors of `pg` without a code. */
const connectionMessages =
  /^(Connection terminated|Client has encountered a connection error|timeout expired|timeout exceeded when trying to connect|Query read timeout)/;

/**
 * Whether a conflict with another transaction, possibly a deadlock, ended the transaction. A retry may succeed
 * (https://www.postgresql.org/docs/current/transaction-iso.html#XACT-SERIALIZABLE).
 */
export function isSerializationFailure(error: unknown): boolean {
  const code = codeOf(error);
  return code === serializationFailure || code === deadlockDetected;
}

/** Whether the error means that the connection can't be used again. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return error instanceof Error;
  return error.severity === 'FATAL' || error.severity === 'PANIC';
}

/** Converts an error of `pg` to the matching error of the store, if there is one. Returns other errors unchanged. */
export function translateError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = codeOf(error) ?? '';
  // Without the detail, which contains the values: an e-mail address, or the hash of a token.
  if (code === uniqueViolation) {
    const { table = '?', constraint = '?' } = error as pg.DatabaseError;
    return new ConflictError(`Not unique: ${constraint} of ${table}`, { cause: error });
  }
  if (code === diskFull) {
    return new StorageFullError(`Cannot write to the database: ${error.message}`, { cause: error });
  }
  const isRefused =
    code.startsWith('28') ||
    code === 'EACCES' ||
    refused.has(code) ||
    refusedMessages.test(error.message) ||
    untrustedCodes.test(code);
  if (isRefused) return new RefusedError(`Cannot use the database: ${error.message}`, { cause: error });
  const isUnavailable =
    isSerializationFailure(error) ||
    unavailable.has(code) ||
    code.startsWith('08') || // the class of broken connections
    systemErrors.has(code) ||
    connectionMessages.test(error.message);
  if (!isUnavailable) return error;
  return new UnavailableError(`Cannot reach the database: ${error.message}`, { cause: error });
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

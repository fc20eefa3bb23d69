import { RefusedError, StorageFullError, UnavailableError } from '../../db/store.ts';

/** Error codes for a full store; each vendor has its own. */
const fullNames = new Set(['InsufficientStorage', 'QuotaExceeded', 'XMinioStorageFull']);

/** Error codes for temporary failures. */
const busyNames = new Set([
  'InternalError',
  'OperationAborted',
  'RequestTimeout',
  'ServiceUnavailable',
  'SlowDown',
  'ThrottlingException',
  'TimeoutError',
  'TooManyRequestsException',
]);

/** Error codes and statuses for a wrong bucket or wrong credentials. */
const refusedNames = new Set(['CredentialsProviderError', 'InvalidBucketName', 'NoSuchBucket']);
const refusedStatuses = new Set([301, 401, 403]);

/** Error codes of Node.js for network failures. */
const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'ERR_STREAM_PREMATURE_CLOSE',
]);

/** The HTTP status of the response that caused an error; `undefined` if there was no response. */
export function statusOf(error: unknown): number | undefined {
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } };
  return $metadata?.httpStatusCode;
}

/** Whether the error means that the object doesn't exist. A missing bucket is a different error. */
export function isMissing(error: unknown): boolean {
  return statusOf(error) === 404 && error instanceof Error && error.name !== 'NoSuchBucket';
}

/** Converts an error of the S3 client to the matching error of the port, if there is one. Returns other errors unchanged. */
export function translateError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const status = statusOf(error);
  if (status === 507 || fullNames.has(error.name)) {
    return new StorageFullError(`Cannot store the bytes: the object store is full (${error.name})`, {
      cause: error,
    });
  }
  if (refusedNames.has(error.name) || refusedStatuses.has(status ?? 0)) {
    return new RefusedError(`Cannot use the object store: ${error.name}: ${error.message}`, { cause: error });
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const isBusy = busyNames.has(error.name) || networkCodes.has(code) || status === 429 || (status ?? 0) >= 500;
  if (!isBusy) return error;
  return new UnavailableError(`Cannot reach the object store: ${error.name} ${code || (status ?? '')}`.trimEnd(), {
    cause: error,
  });
}

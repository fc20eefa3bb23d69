import { RefusedError, StorageFullError, UnavailableError } from '../../domain/ports.ts';

/** What stores say that have no room left; each vendor has a word of its own. */
const fullNames = new Set(['InsufficientStorage', 'QuotaExceeded', 'XMinioStorageFull']);

/** What stores say that can't serve now, and may later. */
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

/** What is said where the bucket or the key is not there, or not the right one; beside the statuses of such answers. */
const refusedNames = new Set(['CredentialsProviderError', 'InvalidBucketName', 'NoSuchBucket']);
const refusedStatuses = new Set([301, 401, 403]);

/** What the operating system says when a server is not to be reached, or has gone. */
const systemCodes = new Set([
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

/** The status of the answer that became an error; `undefined` where there was none. */
export function statusOf(error: unknown): number | undefined {
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } };
  return $metadata?.httpStatusCode;
}

/** Whether there is no object of that key, and nothing else is wrong. */
export function isMissing(error: unknown): boolean {
  return statusOf(error) === 404 && error instanceof Error && error.name !== 'NoSuchBucket';
}

/** The port's error for what the S3 client threw, where it has one; else the error itself. */
export function translateError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const status = statusOf(error);
  if (status === 507 || fullNames.has(error.name)) {
    return new StorageFullError(`Cannot store the bytes: the object store has no room (${error.name})`, {
      cause: error,
    });
  }
  if (refusedNames.has(error.name) || refusedStatuses.has(status ?? 0)) {
    return new RefusedError(`Cannot use the object store: ${error.name}: ${error.message}`, { cause: error });
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const isBusy = busyNames.has(error.name) || systemCodes.has(code) || status === 429 || (status ?? 0) >= 500;
  if (!isBusy) return error;
  return new UnavailableError(`Cannot get to the object store: ${error.name} ${code || (status ?? '')}`.trimEnd(), {
    cause: error,
  });
}

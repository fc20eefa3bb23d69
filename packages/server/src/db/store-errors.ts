/** Thrown by a store that has no room left. */
export class StorageFullError extends Error {
  override readonly name = 'StorageFullError';
}

/** Thrown by a store when a change would make something that must be unique exist twice; nothing of it is kept. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
}

/** Thrown by a store that could not get to its data in time, because others kept it busy: the same may work later. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}

/** Thrown by a store that can be read alone: its file system is read-only. */
export class ReadOnlyError extends UnavailableError {}

/** Thrown by a store that answers and can't be used: it lets nobody in so, or has not what it is to keep data in. Trying again doesn't help. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/**
 * Thrown before the last of the bytes of a blob that are not those of its address. They may have been spoilt on their way, so that
 * the same may work later too; if they lie so, `verify` tells.
 */
export class WrongBytesError extends UnavailableError {}

/**
 * Caches contents and binding lists beyond the process: `diskStore()` of `@tenon/client/disk`, or your own.
 *
 * The client verifies each entry that it reads, and deletes damaged ones. If a method rejects, the client emits `error` with
 * `store_failed` and continues without the store. Several clients and processes may share a backend.
 */
export interface CacheStore {
  /** @param key lower-case letters and digits in segments separated by `/`: a valid file name everywhere */
  get(key: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Writes an entry atomically. Implementations must not change the bytes, or keep them after the promise settles. */
  set(key: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Does nothing if there is no entry. */
  delete(key: string): Promise<void>;
}

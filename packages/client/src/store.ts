/**
 * Where contents and lists are kept beyond the process: `diskStore()` of `@tenon/client/disk`, or one's own.
 *
 * What it gives need not be right: the client checks every entry before it uses it, and deletes one that is damaged. A method that
 * rejects is told of (`problem` with `store_failed`) and otherwise worked without. Several clients and processes may share what lies below.
 */
export interface Store {
  /** @param key lower-case letters and digits, in segments parted by `/`: good as a file's name everywhere */
  get(key: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Keeps an entry whole or not at all. The bytes are not to be kept hold of, nor changed. */
  set(key: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Does nothing when there is none. */
  delete(key: string): Promise<void>;
}

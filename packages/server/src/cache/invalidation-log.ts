import type { CacheTag } from './cache-tag.ts';

/** A logical clock: the number of commits that the store has notified the cache of. */
export type CacheVersion = number;

/** The maximum number of tags in the younger half of the log. */
const defaultSize = 100_000;

/**
 * Creates a log of the tags that recent commits have invalidated. It has two halves. When the younger half is full, the older one is dropped: a value whose tags were not invalidated, and that was
 * looked up since then, stays valid.
 *
 * @param size the maximum number of tags in a half
 */
export function createInvalidationLog(size: number = defaultSize) {
  let version: CacheVersion = 0;
  let young = new Map<CacheTag, CacheVersion>();
  let old = new Map<CacheTag, CacheVersion>();
  let youngSince: CacheVersion = 0;
  let oldSince: CacheVersion = 0;
  return {
    /** The version of the last added commit. */
    get version(): CacheVersion {
      return version;
    },
    /** Adds a commit with the tags that it invalidates; `undefined` invalidates everything. */
    add(invalidated: readonly CacheTag[] | undefined): void {
      version++;
      if (invalidated === undefined || invalidated.length > size) {
        young.clear();
        old.clear();
        youngSince = version;
        oldSince = version;
        return;
      }
      if (young.size + invalidated.length > size) {
        old = young;
        oldSince = youngSince;
        young = new Map();
        youngSince = version - 1; // this commit's tags are in the younger half
      }
      for (const tag of invalidated) young.set(tag, version);
    },
    /** Whether none of the tags was invalidated after `since`. `false` for versions that are older than the log. */
    isValid(tags: readonly CacheTag[], since: CacheVersion): boolean {
      if (since < oldSince) return false;
      if (since === version) return true;
      return tags.every((tag) => (young.get(tag) ?? old.get(tag) ?? 0) <= since);
    },
  };
}

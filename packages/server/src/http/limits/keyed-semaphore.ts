/** A function that releases the permit; or the limit that is exhausted. */
export type Permit = (() => void) | 'total limit' | 'key limit';

/** A semaphore with a limit for all keys together and one per key. It never waits. */
export type KeyedSemaphore = ReturnType<typeof createKeyedSemaphore>;

/**
 * Creates a semaphore with `max` permits. A key gets at most `maxPerKey`, and beyond its first one no more than as many as stay free. So the
 * last permits go to keys with few of them, even if one client uses many keys.
 */
export function createKeyedSemaphore(max: number, maxPerKey: number) {
  const countByKey = new Map<string, number>();
  let total = 0;
  return {
    acquire(key: string): Permit {
      const keyCount = countByKey.get(key) ?? 0;
      if (keyCount >= maxPerKey) return 'key limit';
      const freeAfter = max - total - 1;
      if (freeAfter < 0 || (keyCount > 0 && keyCount + 1 > freeAfter)) return 'total limit';
      total++;
      countByKey.set(key, keyCount + 1);
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        total--;
        const remaining = (countByKey.get(key) ?? 0) - 1;
        if (remaining > 0) countByKey.set(key, remaining);
        else countByKey.delete(key);
      };
    },
    get acquired(): number {
      return total;
    },
  };
}

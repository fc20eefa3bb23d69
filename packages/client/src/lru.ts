/** A cache that evicts the least recently used entries above a total weight. */
export interface Lru<V> {
  get(key: string): V | undefined;
  /** An entry heavier than the maximum weight is not cached. */
  set(key: string, value: V, weight: number): void;
  delete(key: string): void;
  values(): IterableIterator<V>;
  readonly size: number;
  readonly weight: number;
}

export function createLru<V>(maxWeight: number): Lru<V> {
  // A Map iterates in insertion order, so its first entry is the least recently used.
  const entries = new Map<string, { readonly value: V; readonly weight: number }>();
  let total = 0;

  function remove(key: string): void {
    const entry = entries.get(key);
    if (entry === undefined) return;
    total -= entry.weight;
    entries.delete(key);
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, weight) {
      remove(key);
      if (weight > maxWeight) return;
      entries.set(key, { value, weight });
      total += weight;
      for (const oldest of entries.keys()) {
        if (total <= maxWeight) break;
        remove(oldest);
      }
    },
    delete: remove,
    *values() {
      for (const { value } of entries.values()) yield value;
    },
    get size() {
      return entries.size;
    },
    get weight() {
      return total;
    },
  };
}

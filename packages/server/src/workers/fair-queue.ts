/**
 * A bounded queue with round-robin scheduling across callers. Within one caller, items leave in the order in which they were added. A
 * caller with many items doesn't delay the others.
 */
export type FairQueue<T> = ReturnType<typeof createFairQueue<T>>;

/** @param max the maximum number of items, over all callers */
export function createFairQueue<T>(max: number) {
  const itemsByCaller = new Map<string, Set<T>>(); // in round-robin order: the next caller comes first
  let size = 0;

  const remove = (caller: string, item: T): boolean => {
    const items = itemsByCaller.get(caller);
    if (items?.delete(item) !== true) return false;
    if (items.size === 0) itemsByCaller.delete(caller);
    size--;
    return true;
  };
  /** Returns the caller with the most items, if it has at least two more than `caller`. */
  const callerToDisplace = (caller: string): string | undefined => {
    let most = (itemsByCaller.get(caller)?.size ?? 0) + 1;
    let found: string | undefined;
    for (const [other, items] of itemsByCaller) {
      if (items.size > most) [most, found] = [items.size, other];
    }
    return found;
  };
  const displaceFor = (caller: string): { readonly caller: string; readonly item: T } | undefined => {
    const other = callerToDisplace(caller);
    if (other === undefined) return undefined;
    const last = [...(itemsByCaller.get(other) ?? [])].at(-1) as T;
    remove(other, last);
    return { caller: other, item: last };
  };

  return {
    get size(): number {
      return size;
    },
    /**
     * Adds an item. When the queue is full, the new item displaces the last item of the caller with the most items. It does so only if that
     * caller has at least two items more than this caller; otherwise the new item itself is rejected.
     *
     * @returns the displaced or rejected item; `undefined` when there was room
     */
    add(caller: string, item: T): { readonly caller: string; readonly item: T } | undefined {
      const displaced = size < max ? undefined : (displaceFor(caller) ?? { caller, item });
      if (displaced?.item === item) return displaced;
      const items = itemsByCaller.get(caller) ?? new Set();
      itemsByCaller.set(caller, items.add(item));
      size++;
      return displaced;
    },
    /** Removes and returns the next item, skipping callers for which `canTake` returns `false`. */
    take(canTake: (caller: string) => boolean): T | undefined {
      for (const [caller, items] of itemsByCaller) {
        const [item] = items;
        if (item === undefined || !canTake(caller)) continue;
        remove(caller, item);
        itemsByCaller.delete(caller);
        if (items.size > 0) itemsByCaller.set(caller, items); // re-insert at the end of the round
        return item;
      }
      return undefined;
    },
    /** @returns whether the item was in the queue */
    delete: remove,
    /** Empties the queue. @returns the removed items */
    clear(): T[] {
      const items = [...itemsByCaller.values()].flatMap((each) => [...each]);
      itemsByCaller.clear();
      size = 0;
      return items;
    },
  };
}

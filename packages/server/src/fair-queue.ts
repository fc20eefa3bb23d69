/** What waits, of many callers: each in turn is given one of its own, whoever came first and however many somebody has. */
export interface FairQueue<T> {
  readonly size: number;
  /**
   * Adds an item. Where there is no room, the last item of whoever has the most is displaced, unless that is who adds this one, or
   * both would change places by it.
   *
   * @returns what has no place now: the item itself, another one, or nothing
   */
  add(caller: string, item: T): { readonly caller: string; readonly item: T } | undefined;
  /** Takes the item whose turn it is out, of those callers that may have one now. */
  next(mayHave: (caller: string) => boolean): T | undefined;
  /** @returns whether it was there */
  delete(caller: string, item: T): boolean;
  /** Empties the queue. @returns what was in it */
  clear(): T[];
}

/** @param max how many items there may be, of all callers together */
export function createFairQueue<T>(max: number): FairQueue<T> {
  const waiting = new Map<string, Set<T>>(); // whose turn comes next stands first
  let size = 0;

  const remove = (caller: string, item: T): boolean => {
    const items = waiting.get(caller);
    if (items?.delete(item) !== true) return false;
    if (items.size === 0) waiting.delete(caller);
    size--;
    return true;
  };
  /** Who has two items more than the caller has, at the least, and more than anybody else. */
  const greediest = (caller: string): string | undefined => {
    let most = (waiting.get(caller)?.size ?? 0) + 1;
    let found: string | undefined;
    for (const [other, items] of waiting) {
      if (items.size > most) [most, found] = [items.size, other];
    }
    return found;
  };
  const displace = (caller: string): { readonly caller: string; readonly item: T } | undefined => {
    const other = greediest(caller);
    if (other === undefined) return undefined;
    const last = [...(waiting.get(other) ?? [])].at(-1) as T;
    remove(other, last);
    return { caller: other, item: last };
  };

  return {
    get size() {
      return size;
    },
    add(caller, item) {
      const displaced = size < max ? undefined : (displace(caller) ?? { caller, item });
      if (displaced?.item === item) return displaced;
      const items = waiting.get(caller) ?? new Set();
      waiting.set(caller, items.add(item));
      size++;
      return displaced;
    },
    next(mayHave) {
      for (const [caller, items] of waiting) {
        const [item] = items;
        if (item === undefined || !mayHave(caller)) continue;
        remove(caller, item);
        waiting.delete(caller);
        if (items.size > 0) waiting.set(caller, items); // behind all others
        return item;
      }
      return undefined;
    },
    delete: remove,
    clear() {
      const items = [...waiting.values()].flatMap((each) => [...each]);
      waiting.clear();
      size = 0;
      return items;
    },
  };
}

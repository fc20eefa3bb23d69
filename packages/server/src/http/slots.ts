/** What gives a place back; or what there is no room for. */
export type Slot = (() => void) | 'all taken' | 'taken by key';

/** Places for long-lived work, limited in all and for each key. */
export interface Slots {
  take(key: string): Slot;
  /** How many places are taken. */
  readonly taken: number;
}

/**
 * A key has at most `maxPerKey` places, and beyond its first one no more than are left free for others: however many keys one client has,
 * the last places go to keys that have few.
 */
export function createSlots(max: number, maxPerKey: number): Slots {
  const taken = new Map<string, number>();
  let all = 0;
  return {
    take(key) {
      const ofKey = taken.get(key) ?? 0;
      if (ofKey >= maxPerKey) return 'taken by key';
      const left = max - all - 1;
      if (left < 0 || (ofKey > 0 && ofKey + 1 > left)) return 'all taken';
      all++;
      taken.set(key, ofKey + 1);
      let isGiven = false;
      return () => {
        if (isGiven) return;
        isGiven = true;
        all--;
        const left = (taken.get(key) ?? 0) - 1;
        if (left > 0) taken.set(key, left);
        else taken.delete(key);
      };
    },
    get taken() {
      return all;
    },
  };
}

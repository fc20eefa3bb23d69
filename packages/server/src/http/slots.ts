/** What gives a place back; or what there is no room for. */
export type Slot = (() => void) | 'all taken' | 'taken by key';

/** Places for what goes on for long, of which there are so many in all, and so many for each key. It may be another process that counts. */
export interface SharedSlots {
  take(key: string): Slot | Promise<Slot>;
  /** How many places this process has taken. */
  readonly taken: number;
}

/** Places that this process counts. */
export interface Slots extends SharedSlots {
  take(key: string): Slot;
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

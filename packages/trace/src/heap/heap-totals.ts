import { toNano } from '../clock.ts';
import type { HeapTotals } from './heap-profile.ts';

const place = {
  allocations: 0,
  allocatedBytes: 1,
  frees: 2,
  freedBytes: 3,
  failures: 4,
  unknownFrees: 5,
  peakBytes: 6,
  peakTime: 7,
  isAtPeak: 8,
} as const;

/** Counts allocations and frees. */
export interface TotalsCounter {
  readonly allocated: (size: number) => void;
  readonly freed: (size: number) => void;
  readonly failed: () => void;
  readonly freedUnknown: () => void;
  readonly snapshot: (originUnixNano: bigint) => HeapTotals;
}

export function createTotalsCounter(now: () => number): TotalsCounter {
  const row = new Float64Array(9);
  const add = (at: number, amount: number): number => {
    const sum = (row[at] as number) + amount;
    row[at] = sum;
    return sum;
  };
  const liveBytes = () => (row[place.allocatedBytes] as number) - (row[place.freedBytes] as number);
  return {
    allocated(size) {
      add(place.allocations, 1);
      const live = add(place.allocatedBytes, size) - (row[place.freedBytes] as number);
      if (live <= (row[place.peakBytes] as number)) return;
      row[place.peakBytes] = live;
      row[place.isAtPeak] = 1;
    },
    freed(size) {
      // The clock is read when a peak ends, because most allocations of a growing heap make a new one.
      if (row[place.isAtPeak] === 1) {
        row[place.peakTime] = now();
        row[place.isAtPeak] = 0;
      }
      add(place.frees, 1);
      add(place.freedBytes, size);
    },
    failed: () => void add(place.failures, 1),
    freedUnknown: () => void add(place.unknownFrees, 1),
    snapshot(originUnixNano) {
      const at = (index: number) => row[index] as number;
      const peakTime = at(place.isAtPeak) === 1 ? now() : at(place.peakTime);
      return {
        allocations: at(place.allocations),
        allocatedBytes: at(place.allocatedBytes),
        liveAllocations: at(place.allocations) - at(place.frees),
        liveBytes: liveBytes(),
        frees: at(place.frees),
        freedBytes: at(place.freedBytes),
        failures: at(place.failures),
        unknownFrees: at(place.unknownFrees),
        peakBytes: at(place.peakBytes),
        peakTimeUnixNano: at(place.allocations) === 0 ? undefined : originUnixNano + toNano(peakTime),
      };
    },
  };
}

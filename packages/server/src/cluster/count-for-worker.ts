import type { CountedAllowances } from '../allowances.ts';
import type { CountAnswer, CountMessage } from './messages.ts';

/** Counts for one worker. */
export interface WorkerCounts {
  take(message: CountMessage): void;
  /** The worker has ended: gives back the places that it had. */
  end(): void;
}

/** @param answer is called with what is asked for, at once */
export function countForWorker(
  { rates, newsStreams }: CountedAllowances,
  answer: (id: number, answer: CountAnswer) => void,
): WorkerCounts {
  const places = new Map<number, () => void>();

  const takeSlot = (id: number, key: string): CountAnswer => {
    const slot = newsStreams.take(key);
    if (typeof slot === 'string') return slot;
    places.set(id, slot);
    return 'taken';
  };
  return {
    take(message) {
      switch (message.kind) {
        case 'rate':
          return answer(message.id, rates[message.rate].take(message.key));
        case 'give':
          return rates[message.rate].give(message.key);
        case 'slot':
          return answer(message.id, takeSlot(message.id, message.key));
        case 'free':
          places.get(message.id)?.();
          places.delete(message.id);
      }
    },
    end() {
      for (const giveBack of places.values()) giveBack();
      places.clear();
    },
  };
}

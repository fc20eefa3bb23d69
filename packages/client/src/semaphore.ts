/** Limits how many streams are open at once. */
export interface Semaphore {
  /** @returns whether a permit was available */
  tryAcquire(): boolean;
  release(): void;
  readonly available: boolean;
}

export function createSemaphore(permits: number): Semaphore {
  let available = permits;
  return {
    tryAcquire() {
      if (available < 1) return false;
      available--;
      return true;
    },
    release() {
      available++;
    },
    get available() {
      return available >= 1;
    },
  };
}

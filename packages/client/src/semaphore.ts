export type Semaphore = ReturnType<typeof createSemaphore>;

/** Limits how many streams are open at once. */
export function createSemaphore(permits: number) {
  let available = permits;
  return {
    /** @returns whether a permit was available */
    tryAcquire(): boolean {
      if (available < 1) return false;
      available--;
      return true;
    },
    release(): void {
      available++;
    },
    isAvailable: (): boolean => available >= 1,
  };
}

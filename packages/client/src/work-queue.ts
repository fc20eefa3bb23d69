/**
 * Works on items with limited concurrency.
 *
 * @param work must not reject
 */
export function createWorkQueue<T>(concurrency: number, keyOf: (item: T) => string, work: (item: T) => Promise<void>) {
  const waiting = new Map<string, T>();
  let running = 0;

  async function run(): Promise<void> {
    for (const [key, item] of waiting) {
      waiting.delete(key); // an item that is added from now on is more work
      await work(item);
    }
    running--;
  }

  return {
    /** Appends an item. An item that already waits is not added twice. */
    add(item: T): void {
      waiting.set(keyOf(item), item);
      if (running >= concurrency) return;
      running++;
      void run();
    },
    /** Removes the waiting items. Work in progress continues. */
    clear: (): void => waiting.clear(),
  };
}

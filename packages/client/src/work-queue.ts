/** Work that is done for each of many things, so many at a time. */
export interface WorkQueue<T> {
  /** Has something worked on, after what came before it. What waits already waits once. */
  add(item: T): void;
  /** Forgets what waits. What is under way goes on. */
  clear(): void;
}

/** @param work never rejects */
export function createWorkQueue<T>(
  concurrency: number,
  nameOf: (item: T) => string,
  work: (item: T) => Promise<void>,
): WorkQueue<T> {
  const waiting = new Map<string, T>();
  let running = 0;

  async function run(): Promise<void> {
    for (const [name, item] of waiting) {
      waiting.delete(name); // what comes for the same thing from now on is more work
      await work(item);
    }
    running--;
  }

  return {
    add(item) {
      waiting.set(nameOf(item), item);
      if (running >= concurrency) return;
      running++;
      void run();
    },
    clear: () => waiting.clear(),
  };
}

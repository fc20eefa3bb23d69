/** A mutex per key, within this process: calls with the same key run one after another, others concurrently. */
export type KeyedMutex = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function createKeyedMutex(): KeyedMutex {
  const lastByKey = new Map<string, Promise<void>>();
  return async (key, work) => {
    const previous = lastByKey.get(key);
    const { promise: done, resolve } = Promise.withResolvers<void>();
    lastByKey.set(key, done);
    await previous;
    try {
      return await work();
    } finally {
      if (lastByKey.get(key) === done) lastByKey.delete(key);
      resolve();
    }
  };
}

/** Runs works of the same key one after the other, in this process; works of other keys don't wait for them. */
export type KeyedMutex = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<void>>();
  return async (key, work) => {
    const before = last.get(key);
    const { promise: done, resolve } = Promise.withResolvers<void>();
    last.set(key, done);
    await before;
    try {
      return await work();
    } finally {
      if (last.get(key) === done) last.delete(key);
      resolve();
    }
  };
}

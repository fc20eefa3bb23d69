/** What pages keep in this tab until it is reloaded: the data that they showed last, what one was searching for. */
export interface PageCache {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

/** Entries beyond this many are forgotten, the ones that were kept first before others. */
const maxEntries = 100;

export function createPageCache(): PageCache {
  const entries = new Map<string, unknown>();
  return {
    get: (key) => entries.get(key),
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      const [oldest] = entries.keys();
      if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
    },
  };
}

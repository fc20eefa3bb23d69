/** Data and inputs of pages, kept until the tab is reloaded. */
export interface PageCache {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

/** The oldest entries beyond this number are evicted. */
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

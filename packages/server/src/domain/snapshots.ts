import type { Store } from './ports.ts';

/** What a memory of answers may hold before it is emptied. */
const maxEntries = 20_000;

/** Answers that stay right as long as nothing in the store changes. */
export class Memory<V> {
  readonly #entries = new Map<string, V>();

  get(key: string): V | undefined {
    return this.#entries.get(key);
  }

  /** The remembered answer, or a new one, which is remembered unless it is `undefined`. */
  async getOrLoad(key: string, load: () => Promise<V>): Promise<V> {
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const value = await load();
    if (value !== undefined) {
      if (this.#entries.size >= maxEntries) this.#entries.clear();
      this.#entries.set(key, value);
    }
    return value;
  }
}

/**
 * What was read from the store since its revision last changed. Each use case that wants to remember its answers asks for a
 * memory of its own by a symbol.
 */
export interface Snapshot {
  memory<V>(owner: MemoryKey<V>): Memory<V>;
}

/** Names one use case's memory, and carries the type of what it remembers. */
export interface MemoryKey<V> {
  readonly symbol: symbol;
  readonly valueType?: V;
}

export function memoryKey<V>(name: string): MemoryKey<V> {
  return { symbol: Symbol(name) };
}

export interface Snapshots {
  /** What may be used for answers now: another object as soon as anything was committed, by any process. */
  current(): Snapshot;
}

/**
 * Keeps answers for as long as the store's revision stays the same. A load that was begun under an old revision ends in the
 * old snapshot, which nobody asks any more: so nothing older than the revision is ever served.
 */
export function createSnapshots(store: Pick<Store, 'revision'>): Snapshots {
  let revision = Number.NaN;
  let snapshot = createSnapshot();
  return {
    current() {
      const now = store.revision();
      if (now !== revision) {
        revision = now;
        snapshot = createSnapshot();
      }
      return snapshot;
    },
  };
}

function createSnapshot(): Snapshot {
  const memories = new Map<symbol, Memory<unknown>>();
  return {
    memory<V>(owner: MemoryKey<V>): Memory<V> {
      let memory = memories.get(owner.symbol);
      if (memory === undefined) {
        memory = new Memory<unknown>();
        memories.set(owner.symbol, memory);
      }
      return memory as Memory<V>;
    },
  };
}

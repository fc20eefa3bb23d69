import type { Store } from './ports.ts';

/** What one memory of answers may weigh, about in bytes, before it is emptied. */
const maxMemoryBytes = 64 * 1024 * 1024;

/** What an entry is taken to weigh, beside the bytes that its use case counts. */
const entryBytes = 1024;

/** Answers that stay right as long as nothing in the store changes. */
export class Memory<V> {
  readonly #entries = new Map<string, V>();
  readonly #weigh: (value: V) => number;
  #bytes = 0;

  constructor(weigh: (value: V) => number = () => 0) {
    this.#weigh = weigh;
  }

  /** The remembered answer, or a new one, which is remembered unless it is `undefined`. */
  async getOrLoad(key: string, load: () => Promise<V>): Promise<V> {
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const value = await load();
    if (value !== undefined) this.#remember(key, value);
    return value;
  }

  /** The remembered answer, if there is one. */
  get(key: string): V | undefined {
    return this.#entries.get(key);
  }

  /** Remembers an answer that was found while this memory's snapshot was the current one. */
  set(key: string, value: V): void {
    this.#remember(key, value);
  }

  #remember(key: string, value: V): void {
    const bytes = entryBytes + this.#weigh(value);
    if (this.#bytes + bytes > maxMemoryBytes) {
      this.#entries.clear();
      this.#bytes = 0;
    }
    this.#entries.set(key, value);
    this.#bytes += bytes;
  }
}

/**
 * What was read from the store since its revision last changed. Each use case that wants to remember its answers asks for a
 * memory of its own by a key.
 */
export interface Snapshot {
  memory<V>(owner: MemoryKey<V>): Memory<V>;
}

/** Names one use case's memory, and says how many bytes an answer has that is large. */
export interface MemoryKey<V> {
  readonly name: string;
  readonly weigh?: ((value: V) => number) | undefined;
}

export function memoryKey<V>(name: string, weigh?: (value: V) => number): MemoryKey<V> {
  return { name, weigh };
}

export interface Snapshots {
  /** What may be used for answers now: another object as soon as anything was committed, by any process. */
  current(): Snapshot;
  /** How often answers were dropped since the start. */
  readonly dropped: number;
}

/**
 * Keeps answers for as long as the store's revision stays the same. A load that was begun under an old revision ends in the
 * old snapshot, which nobody asks any more: so nothing older than the revision is ever served.
 */
export function createSnapshots(store: Pick<Store, 'revision'>): Snapshots {
  let revision = Number.NaN;
  let snapshot = createSnapshot();
  let dropped = -1; // the first revision drops nothing
  return {
    current() {
      const now = store.revision();
      if (now !== revision) {
        revision = now;
        snapshot = createSnapshot();
        dropped++;
      }
      return snapshot;
    },
    get dropped() {
      return Math.max(dropped, 0);
    },
  };
}

function createSnapshot(): Snapshot {
  const memories = new Map<unknown, unknown>();
  return {
    memory<V>(owner: MemoryKey<V>): Memory<V> {
      let memory = memories.get(owner) as Memory<V> | undefined;
      if (memory === undefined) {
        memory = new Memory<V>(owner.weigh);
        memories.set(owner, memory);
      }
      return memory;
    },
  };
}

import type { Store } from '../ports.ts';
import type { Subject } from './subject.ts';
import { createTouchLog, type Moment } from './touch-log.ts';

/** What an entry is taken to weigh, beside its key and the bytes that its use case counts. */
const entryBytes = 400;

/** One use case's answers, each kept until something that it depends on is touched. */
export interface Memory<V> {
  /** The answer that is kept, if it still holds. */
  get(key: string): V | undefined;
  /** The answer that is kept, or a new one, which is kept unless it is `undefined`. Those who ask meanwhile share a load. */
  getOrLoad<L extends V | undefined>(key: string, load: () => Promise<L>): Promise<V | L>;
  /** Keeps an answer that was found from what was read after a moment. */
  set(key: string, value: V, since: Moment): void;
}

/** Names one use case's memory, and says of an answer what it depends on. */
export interface MemoryKind<V> {
  readonly name: string;
  subjects(value: V, key: string): readonly Subject[];
  /** How many bytes an answer has that is large. */
  weigh?(value: V): number;
}

export interface Memories {
  /** The memory of a kind: the same each time. */
  of<V>(kind: MemoryKind<V>): Memory<V>;
  /** To be asked before anything is read of which something is to be kept. */
  now(): Moment;
  /** How often something was asked for that was known, that wasn't, and that no longer held. */
  readonly usage: MemoryUsage;
}

export interface MemoryUsage {
  readonly known: number;
  readonly unknown: number;
  readonly stale: number;
}

/**
 * Keeps answers for as long as nothing that they depend on is touched by a commit, in whatever process. The store tells of commits
 * before its revision is another number, and an answer is as of the moment before it was read: if it is stale, then something
 * that it depends on was touched after that moment, and it is not used.
 *
 * It costs no more when a million answers are kept than when one is: a commit is noted with the subjects that it touches, and an
 * answer is held against the notes when it is next asked for. What nobody asks for while half of the room is filled anew goes.
 *
 * @param maxBytes about how much all that is kept may weigh; default: what a test needs, and no server has
 */
export function createMemories(store: Pick<Store, 'revision' | 'onCommitted'>, maxBytes = 16 * 1024 * 1024): Memories {
  const memories = new Map<unknown, KindMemory<unknown>>();
  const log = createTouchLog();
  const usage = { known: 0, unknown: 0, stale: 0 };
  let youngBytes = 0;
  let moment = log.moment;
  store.onCommitted((touched) => {
    log.note(touched);
    moment = log.moment;
  });
  const shared: Shared = {
    usage,
    isUntouched: log.isUntouched,
    now() {
      store.revision(); // has the store tell of what it hasn't told of yet
      return moment;
    },
    grow(bytes) {
      youngBytes += bytes;
      if (youngBytes <= maxBytes / 2) return;
      for (const memory of memories.values()) memory.age();
      youngBytes = 0;
    },
  };
  return {
    usage,
    now: shared.now,
    of<V>(kind: MemoryKind<V>): Memory<V> {
      let memory = memories.get(kind) as KindMemory<V> | undefined;
      if (memory === undefined) {
        memory = new KindMemory(kind, shared);
        memories.set(kind, memory as KindMemory<unknown>);
      }
      return memory;
    },
  };
}

/** What the memories of all kinds have in common. */
interface Shared {
  readonly usage: { known: number; unknown: number; stale: number };
  now(): Moment;
  isUntouched(subjects: readonly Subject[], since: Moment): boolean;
  /** To be called when so much more is kept, or less. */
  grow(bytes: number): void;
}

interface Entry<V> {
  readonly value: V;
  readonly subjects: readonly Subject[];
  readonly bytes: number;
  /** The last moment at which the answer is known to hold. */
  heldAt: Moment;
}

class KindMemory<V> implements Memory<V> {
  readonly #kind: MemoryKind<V>;
  readonly #shared: Shared;
  readonly #loads = new Map<string, { readonly since: Moment; readonly value: Promise<V | undefined> }>();
  /** What was kept or asked for lately. */
  #young = new Map<string, Entry<V>>();
  /** What was so before that. */
  #old = new Map<string, Entry<V>>();

  constructor(kind: MemoryKind<V>, shared: Shared) {
    this.#kind = kind;
    this.#shared = shared;
  }

  get(key: string): V | undefined {
    const { usage, now, isUntouched } = this.#shared;
    const moment = now();
    const entry = this.#young.get(key) ?? this.#renew(key);
    if (entry === undefined) {
      usage.unknown++;
      return undefined;
    }
    if (entry.heldAt !== moment) {
      if (!isUntouched(entry.subjects, entry.heldAt)) {
        usage.stale++;
        this.#forget(key);
        return undefined;
      }
      entry.heldAt = moment;
    }
    usage.known++;
    return entry.value;
  }

  async getOrLoad<L extends V | undefined>(key: string, load: () => Promise<L>): Promise<V | L> {
    const known = this.get(key);
    if (known !== undefined) return known;
    const since = this.#shared.now();
    const begun = this.#loads.get(key);
    // One that began before the last commit may not have seen it, and who asks now may have made it.
    if (begun?.since === since) return begun.value as Promise<V | L>; // a key has one kind of load
    const loading = { since, value: load() };
    this.#loads.set(key, loading);
    try {
      const value = await loading.value;
      if (value !== undefined) this.set(key, value, since);
      return value;
    } finally {
      if (this.#loads.get(key) === loading) this.#loads.delete(key);
    }
  }

  set(key: string, value: V, since: Moment): void {
    const heldAt = this.#shared.now();
    const subjects = this.#kind.subjects(value, key);
    if (!this.#shared.isUntouched(subjects, since)) return;
    this.#forget(key);
    const bytes = entryBytes + key.length + (this.#kind.weigh?.(value) ?? 0);
    this.#keep(key, { value, subjects, bytes, heldAt });
  }

  /** Forgets what is old; what is young is old from now on. */
  age(): void {
    this.#old = this.#young;
    this.#young = new Map();
  }

  #keep(key: string, entry: Entry<V>): void {
    this.#young.set(key, entry);
    this.#shared.grow(entry.bytes);
  }

  #forget(key: string): void {
    const entry = this.#young.get(key);
    if (entry === undefined) return;
    this.#young.delete(key);
    this.#shared.grow(-entry.bytes);
  }

  #renew(key: string): Entry<V> | undefined {
    const entry = this.#old.get(key);
    if (entry === undefined) return undefined;
    this.#old.delete(key);
    this.#keep(key, entry);
    return entry;
  }
}

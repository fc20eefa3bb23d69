/**
 * A value with one writer and many readers, such as the version that a name is bound to or whether a token is revoked. It records
 * each write and computes the values that a read may return.
 */
export interface Register<V> {
  /** Call before sending a write. The write may take effect from then on. */
  startWrite(value: V): Write;
  /** The values that a read sent at `fromMs` and answered at `toMs` may return. */
  allowedValues(fromMs: number, toMs: number): ReadonlySet<V>;
  /** The value of the last write. */
  readonly latest: V;
}

export interface Write {
  /** Call when the server acknowledged the write. */
  acknowledge(): void;
}

interface WriteRecord<V> {
  readonly value: V;
  readonly startedMs: number;
  acknowledgedMs: number;
}

/** @param staleMs how long after the acknowledgement of a write a read may still return the value before it */
export function createRegister<V>(initial: V, now: () => number, staleMs: number): Register<V> {
  const writes: WriteRecord<V>[] = [
    { value: initial, startedMs: Number.NEGATIVE_INFINITY, acknowledgedMs: Number.NEGATIVE_INFINITY },
  ];
  return {
    startWrite(value) {
      const write = { value, startedMs: now(), acknowledgedMs: Number.POSITIVE_INFINITY };
      writes.push(write);
      return {
        acknowledge() {
          write.acknowledgedMs = now();
        },
      };
    },
    allowedValues(fromMs, toMs) {
      const values = new Set<V>();
      for (const { value, startedMs, acknowledgedMs } of writes.toReversed()) {
        if (startedMs > toMs) continue;
        values.add(value);
        if (acknowledgedMs + staleMs < fromMs) break; // all older values are too stale
      }
      return values;
    },
    get latest() {
      return (writes.at(-1) as WriteRecord<V>).value;
    },
  };
}

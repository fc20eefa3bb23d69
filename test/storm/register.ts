/**
 * What one writer changes, one change after the other, and many read: what a name is bound to, whether a token opens anything, whether
 * somebody is a member. It knows what who asks at some time may be told.
 */
export interface Register<V> {
  /** To be called before the change is asked for. It may be in effect from then on. */
  begin(value: V): Change;
  /** What may be told to who asked and was answered between these moments. */
  allowed(fromMs: number, toMs: number): ReadonlySet<V>;
  /** What was written last. */
  readonly last: V;
}

export interface Change {
  /** To be called once the change was acknowledged, however often it had to be asked for. */
  acknowledged(): void;
}

interface Written<V> {
  readonly value: V;
  readonly begunMs: number;
  acknowledgedMs: number;
}

/** @param staleMs for how long after a change was acknowledged what was before it may still be told */
export function createRegister<V>(initial: V, now: () => number, staleMs: number): Register<V> {
  const written: Written<V>[] = [
    { value: initial, begunMs: Number.NEGATIVE_INFINITY, acknowledgedMs: Number.NEGATIVE_INFINITY },
  ];
  return {
    begin(value) {
      const entry = { value, begunMs: now(), acknowledgedMs: Number.POSITIVE_INFINITY };
      written.push(entry);
      return {
        acknowledged() {
          entry.acknowledgedMs = now();
        },
      };
    },
    allowed(fromMs, toMs) {
      const values = new Set<V>();
      for (const { value, begunMs, acknowledgedMs } of written.toReversed()) {
        if (begunMs > toMs) continue;
        values.add(value);
        if (acknowledgedMs + staleMs < fromMs) break; // nothing older may be told
      }
      return values;
    },
    get last() {
      return (written.at(-1) as Written<V>).value;
    },
  };
}

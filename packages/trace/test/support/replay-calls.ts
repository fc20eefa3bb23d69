import { type FunctionStatistics, type Span, start } from '../../src/index.ts';
import { createManualClock } from './manual-clock.ts';

/** Calls of functions in their order: a function's index for a start, `~index` for an end. */
export type Calls = readonly number[];

export interface Replay {
  readonly batches: readonly (readonly Span[])[];
  readonly functions: readonly FunctionStatistics[];
  /** Calls that the module reported when they began. */
  readonly tracedCalls: number;
}

interface NumberGlobal extends WebAssembly.Global {
  value: number;
}

const noModule = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

/**
 * Makes the calls as an adaptive module does, on a clock that each start and end moves on: so it is known how long each call
 * takes, skipped or not.
 */
export function replayCalls(calls: Calls, adaptive: boolean, nsPerEvent: number): Replay {
  const clock = createManualClock();
  const batches: (readonly Span[])[] = [];
  const context = start(noModule, {
    adaptive,
    clock,
    statistics: true,
    exporters: [{ export: (spans) => void batches.push(spans) }],
  });
  const global = (value: 'i32' | 'f64', initial: number) =>
    new WebAssembly.Global({ value, mutable: true }, initial) as NumberGlobal;
  const moduleClock = global('f64', 1);
  const step = global('f64', 0);
  const minDuration = global('f64', 1);
  const skippedStart = global('f64', 0);
  const skips = new Map<number, NumberGlobal>();
  for (const call of calls) if (call >= 0 && !skips.has(call)) skips.set(call, global('i32', 0));
  const exports: Record<string, WebAssembly.ExportValue> = {
    'tenon:clock': moduleClock,
    'tenon:clock-step': step,
    'tenon:min-duration': minDuration,
    'tenon:skipped-call-start': skippedStart,
  };
  for (const [index, skip] of skips) exports[`tenon:skip:${index}`] = skip;
  // The export that the host calls: the adapter traces it, since it is the root. Its name is the function's index.
  let place = 0;
  let tracedCalls = 0;
  const { enter, exit } = context.imports['dylibso:observe/instrument'] as Record<string, (index: number) => void>;
  const runRoot = () => {
    const sinces: number[] = [];
    do {
      const call = calls[place++] as number;
      clock.moveNs(nsPerEvent);
      if (call >= 0) {
        const skip = skips.get(call) as NumberGlobal;
        if (skip.value > 0) {
          skip.value--;
          sinces.push(moduleClock.value);
          moduleClock.value += step.value;
        } else {
          tracedCalls++;
          sinces.push(0);
          enter?.(call);
        }
        continue;
      }
      const since = sinces.pop() as number;
      if (moduleClock.value - since < minDuration.value) continue;
      if (since === 0) exit?.(~call);
      else {
        skippedStart.value = since;
        exit?.(call);
      }
    } while (sinces.length > 0);
  };
  const roots = new Map<number, () => unknown>();
  for (const index of skips.keys()) {
    const root = () => runRoot();
    Object.defineProperty(root, 'name', { value: `${index}` });
    exports[`root ${index}`] = root;
  }
  const instance = Object.create(WebAssembly.Instance.prototype, { exports: { value: exports } });
  const bound = context.bind(instance).exports;
  for (const index of skips.keys()) roots.set(index, bound[`root ${index}`] as () => unknown);
  while (place < calls.length) roots.get(calls[place] as number)?.();
  return { batches, functions: context.statistics().functions, tracedCalls };
}

/** How often each function has a span inside a span of each other, and their time. */
export function countSpans(batches: Replay['batches']): Map<string, { count: number; timeNs: number }> {
  const found = new Map<string, { count: number; timeNs: number }>();
  for (const batch of batches) {
    const names = new Map(batch.map(({ spanId, name }) => [spanId, name]));
    for (const { name, parentSpanId, startTimeUnixNano, endTimeUnixNano } of batch) {
      const key = `${name} in ${names.get(parentSpanId ?? '')}`;
      const entry = found.get(key) ?? { count: 0, timeNs: 0 };
      entry.count++;
      entry.timeNs += Number(endTimeUnixNano - startTimeUnixNano);
      found.set(key, entry);
    }
  }
  return found;
}

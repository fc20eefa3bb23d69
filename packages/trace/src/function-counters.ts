import { toNano } from './clock.ts';
import type { FunctionNames } from './names.ts';
import type { FunctionStatistics } from './span.ts';

/** Counts and times the calls of each function in typed arrays, as their exits arrive. */
export interface FunctionCounters {
  readonly enter: (func: number) => void;
  /** Milliseconds within the call, and without the traced calls that it made. */
  readonly exit: (func: number, duration: number, selfTime: number) => void;
  readonly fail: (func: number) => void;
  readonly grow: (func: number, pages: number) => void;
  /** Calls of functions that have no row of their own. */
  readonly uncounted: () => number;
  readonly snapshot: (names: FunctionNames) => FunctionStatistics[];
}

/** Upper bounds of the durations counted together, in nanoseconds: 1, 2 and 5 of each power of ten from 100 ns to 10 s. */
const boundsNano = Object.freeze(
  [100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9].flatMap((power) => [power, 2 * power, 5 * power]).concat(1e10),
);
/** Half a nanosecond more, for what differences of doubles lose. */
const boundsMs = Float64Array.from(boundsNano, (nano) => (nano + 0.5) / 1e6);

const place = { calls: 0, failures: 1, open: 2, total: 3, self: 4, max: 5, pages: 6, sum: 7, buckets: 8 } as const;
const rowLength = place.buckets + boundsNano.length + 1;
/** Engines accept no more functions: https://webassembly.github.io/spec/js-api/#limits */
const maxFunctions = 1_000_000;
const initialRows = 64;

/** Counts up to so many functions. A module that instruments itself can report a million, each of which takes a row. */
export function createFunctionCounters(mostFunctions: number): FunctionCounters {
  let rowOf = new Int32Array(1_024);
  // Row 0 takes what has none of its own: indices that no module has, and functions beyond those that there is room for.
  let rows = new Float64Array(initialRows * rowLength);
  let rowCount = 1;
  const start = (func: number): number => {
    const row = rowOf[func];
    return row === undefined || row === 0 ? newRow(func) : row;
  };
  const newRow = (func: number): number => {
    if (!(func >= 0 && func < maxFunctions) || rowCount > mostFunctions) return 0;
    if (func >= rowOf.length)
      rowOf = grown(rowOf, new Int32Array(Math.min(maxFunctions, Math.max(func + 1, rowOf.length * 2))));
    if ((rowCount + 1) * rowLength > rows.length) rows = grown(rows, new Float64Array(rows.length * 2));
    const row = rowCount * rowLength;
    rowCount++;
    rowOf[func] = row;
    return row;
  };
  const add = (at: number, amount: number): number => {
    const sum = (rows[at] as number) + amount;
    rows[at] = sum;
    return sum;
  };
  return {
    enter(func) {
      const row = start(func);
      add(row + place.open, 1);
    },
    exit(func, duration, selfTime) {
      const row = start(func);
      add(row + place.calls, 1);
      add(row + place.sum, duration);
      add(row + place.self, selfTime);
      if (add(row + place.open, -1) === 0) add(row + place.total, duration);
      if (duration > (rows[row + place.max] as number)) rows[row + place.max] = duration;
      add(row + place.buckets + bucketOf(duration), 1);
    },
    fail: (func) => void add(start(func) + place.failures, 1),
    grow: (func, pages) => void add(start(func) + place.pages, pages),
    uncounted: () => rows[place.calls] as number,
    snapshot(names) {
      const found: FunctionStatistics[] = [];
      rowOf.forEach((row, func) => {
        if (row !== 0) found.push(describe(rows.subarray(row, row + rowLength), func, names));
      });
      return found.filter(({ calls, grownPages }) => calls > 0 || grownPages > 0);
    },
  };
}

/** The first bound that a duration doesn't pass; most calls are short, so the search begins there. */
function bucketOf(duration: number): number {
  let bucket = 0;
  while (bucket < boundsMs.length && duration > (boundsMs[bucket] as number)) bucket++;
  return bucket;
}

function grown<Numbers extends Int32Array | Float64Array>(from: Numbers, into: Numbers): Numbers {
  into.set(from);
  return into;
}

function describe(row: Float64Array, func: number, names: FunctionNames): FunctionStatistics {
  const at = (index: number) => row[index] as number;
  return {
    function: names.describe(func),
    calls: at(place.calls),
    failures: at(place.failures),
    totalTimeNano: toNano(at(place.total)),
    selfTimeNano: toNano(Math.max(0, at(place.self))),
    maxTimeNano: toNano(at(place.max)),
    grownPages: at(place.pages),
    durations: {
      bounds: boundsNano,
      bucketCounts: Array.from(row.subarray(place.buckets)),
      sumNano: toNano(at(place.sum)),
    },
  };
}

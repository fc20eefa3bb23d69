import { toNano } from './clock.ts';
import type { FunctionNames } from './names.ts';
import type { FunctionStatistics } from './span.ts';

/** Counts and times the calls of each function in typed arrays. */
export interface FunctionCounters {
  readonly enter: (func: number) => void;
  /** Milliseconds of the call, with and without its traced callees. */
  readonly exit: (func: number, duration: number, selfTime: number) => void;
  readonly fail: (func: number) => void;
  readonly grow: (func: number, pages: number) => void;
  /** Calls of functions without a row. */
  readonly uncounted: () => number;
  readonly snapshot: (names: FunctionNames, untimedCalls?: (func: number) => number) => FunctionStatistics[];
}

const place = { calls: 0, failures: 1, open: 2, total: 3, self: 4, max: 5, pages: 6 } as const;
const rowLength = 8;
/** The maximum that engines accept: https://webassembly.github.io/spec/js-api/#limits */
const maxFunctions = 1_000_000;
const initialRows = 64;

/** Counts at most `maxRows` functions, because a module may report a million, each of which takes a row. */
export function createFunctionCounters(maxRows: number): FunctionCounters {
  let rowOf = new Int32Array(1_024);
  // Row 0 counts invalid indices and functions beyond the maximum.
  let rows = new Float64Array(initialRows * rowLength);
  let rowCount = 1;
  const start = (func: number): number => {
    const row = rowOf[func];
    return row === undefined || row === 0 ? newRow(func) : row;
  };
  const newRow = (func: number): number => {
    if (!(func >= 0 && func < maxFunctions) || rowCount > maxRows) return 0;
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
      add(row + place.self, selfTime);
      if (add(row + place.open, -1) === 0) add(row + place.total, duration);
      if (duration > (rows[row + place.max] as number)) rows[row + place.max] = duration;
    },
    fail: (func) => void add(start(func) + place.failures, 1),
    grow: (func, pages) => void add(start(func) + place.pages, pages),
    uncounted: () => rows[place.calls] as number,
    snapshot(names, untimedCalls = () => 0) {
      const found: FunctionStatistics[] = [];
      rowOf.forEach((row, func) => {
        if (row !== 0) found.push(describe(rows.subarray(row, row + rowLength), func, names, untimedCalls(func)));
      });
      return found.filter(({ calls, grownPages }) => calls > 0 || grownPages > 0);
    },
  };
}

function grown<Numbers extends Int32Array | Float64Array>(from: Numbers, into: Numbers): Numbers {
  into.set(from);
  return into;
}

function describe(row: Float64Array, func: number, names: FunctionNames, untimedCalls: number): FunctionStatistics {
  const at = (index: number) => row[index] as number;
  return {
    function: names.describe(func),
    calls: at(place.calls) + untimedCalls,
    untimedCalls,
    failures: at(place.failures),
    totalTimeNano: toNano(at(place.total)),
    selfTimeNano: toNano(Math.max(0, at(place.self))),
    maxTimeNano: toNano(at(place.max)),
    grownPages: at(place.pages),
  };
}

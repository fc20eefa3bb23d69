import { type CallStack, column, stride } from '../call-stack.ts';

/** The paths of calls that lead to allocators, as a tree of numbered nodes. Node 0 is above all roots. */
export interface CallPaths {
  /** The node of an allocator that is called from the innermost open call. */
  readonly nodeOf: (stack: CallStack, allocator: number) => number;
  /** Counts an allocation of a node, or that it was freed. */
  readonly allocated: (node: number, size: number) => void;
  readonly freed: (node: number, size: number) => void;
  readonly visit: (visitor: (node: PathNode) => void) => void;
  /** Calls whose path was shortened, because there are too many paths. */
  readonly shortened: () => number;
}

/** The counts of a node. */
export interface PathNode {
  /** Function indices, the allocator last. */
  readonly path: readonly number[];
  readonly allocations: number;
  readonly allocatedBytes: number;
  readonly liveAllocations: number;
  readonly liveBytes: number;
}

/** Of deeper calls, the innermost ones make the path. */
export const maxPathLength = 128;

const place = {
  parent: 0,
  func: 1,
  lastFunc: 2,
  lastChild: 3,
  calls: 4,
  bytes: 5,
  liveCalls: 6,
  liveBytes: 7,
} as const;
const rowLength = 8;
const initialRows = 64;

/** Has at most `maxNodes` nodes. Each node remembers its last used child, because calls repeat. */
export function createCallPaths(maxNodes: number): CallPaths {
  const children = new Map<number, number>();
  let rows = new Float64Array(initialRows * rowLength);
  rows[place.lastFunc] = Number.NaN;
  let count = 1;
  let shortened = 0;
  const child = (node: number, func: number): number => {
    const row = node * rowLength;
    if (rows[row + place.lastFunc] === func) return rows[row + place.lastChild] as number;
    const key = node * 2 ** 32 + (func >>> 0);
    const found = children.get(key) ?? add(node, func, key);
    if (found === node) return node;
    rows[row + place.lastFunc] = func;
    rows[row + place.lastChild] = found;
    return found;
  };
  const add = (node: number, func: number, key: number): number => {
    if (count > maxNodes) {
      shortened++;
      return node;
    }
    if ((count + 1) * rowLength > rows.length) {
      const larger = new Float64Array(rows.length * 2);
      larger.set(rows);
      rows = larger;
    }
    const row = count * rowLength;
    rows[row + place.parent] = node;
    rows[row + place.func] = func;
    rows[row + place.lastFunc] = Number.NaN;
    children.set(key, count);
    return count++;
  };
  const addTo = (at: number, amount: number): void => {
    rows[at] = (rows[at] as number) + amount;
  };
  const pathOf = (node: number): number[] => {
    const path: number[] = [];
    for (let at = node; at !== 0; at = rows[at * rowLength + place.parent] as number) {
      path.push((rows[at * rowLength + place.func] as number) >>> 0);
    }
    return path.reverse();
  };
  return {
    nodeOf({ frames, top }, allocator) {
      let node = 0;
      for (let at = Math.max(stride, top - (maxPathLength - 2) * stride); at <= top; at += stride) {
        const func = frames[at + column.func] as number;
        if (!Number.isNaN(func)) node = child(node, func);
      }
      return child(node, allocator);
    },
    allocated(node, size) {
      const row = node * rowLength;
      addTo(row + place.calls, 1);
      addTo(row + place.bytes, size);
      addTo(row + place.liveCalls, 1);
      addTo(row + place.liveBytes, size);
    },
    freed(node, size) {
      const row = node * rowLength;
      addTo(row + place.liveCalls, -1);
      addTo(row + place.liveBytes, -size);
    },
    visit(visitor) {
      for (let node = 0; node < count; node++) {
        const row = rows.subarray(node * rowLength, (node + 1) * rowLength);
        if (row[place.calls] === 0) continue;
        visitor({
          path: pathOf(node),
          allocations: row[place.calls] as number,
          allocatedBytes: row[place.bytes] as number,
          liveAllocations: row[place.liveCalls] as number,
          liveBytes: row[place.liveBytes] as number,
        });
      }
    },
    shortened: () => shortened,
  };
}

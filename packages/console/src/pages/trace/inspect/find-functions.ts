import { type FunctionTable, nameAt, shownNameAt } from './function-table.ts';

/** File order, largest first, or by name. */
export type FunctionOrder = 'index' | 'size' | 'name';

/** Finds and sorts functions. Caches orders and lower-case names. */
export interface FunctionFinder {
  /**
   * @param text words that the name must contain, in any case
   * @returns indices of functions
   */
  find(text: string, order: FunctionOrder): Uint32Array<ArrayBuffer>;
}

export function createFunctionFinder(table: FunctionTable): FunctionFinder {
  const orders = new Map<FunctionOrder, Uint32Array<ArrayBuffer>>();
  let lowerNames: readonly string[] | undefined;
  const ordered = (order: FunctionOrder): Uint32Array<ArrayBuffer> => {
    const cached = orders.get(order) ?? sortFunctions(table, order);
    orders.set(order, cached);
    return cached;
  };
  return {
    find(text, order) {
      const words = text.toLowerCase().split(/\s+/).filter(Boolean);
      if (words.length === 0) return ordered(order).slice();
      lowerNames ??= Array.from({ length: table.count }, (_, index) => searchText(table, index));
      const names = lowerNames;
      return ordered(order).filter((index) => words.every((word) => names[index]?.includes(word)));
    },
  };
}

/** Functions are found by their demangled name and by the name in the module. */
function searchText(table: FunctionTable, index: number): string {
  const [name, shown] = [nameAt(table, index), shownNameAt(table, index)];
  return (name === shown ? name : `${shown}\n${name}`).toLowerCase();
}

function sortFunctions(table: FunctionTable, order: FunctionOrder): Uint32Array<ArrayBuffer> {
  if (order === 'size') return bySize(table);
  const indices = Uint32Array.from({ length: table.count }, (_, index) => index);
  if (order === 'index') return indices;
  const names = Array.from({ length: table.count }, (_, index) => shownNameAt(table, index));
  // By code units: half a million locale-aware comparisons take seconds.
  return indices.sort((a, b) => compare(names[a] as string, names[b] as string) || a - b);
}

/** More than engines allow functions (2 ** 20), so that a double holds a size and an index. */
const maxIndices = 2 ** 21;

/** Sorting numbers without a comparison function is ten times as fast. */
function bySize({ count, bodyBytes }: FunctionTable): Uint32Array<ArrayBuffer> {
  const keys = Float64Array.from(bodyBytes, (bytes, index) => index - bytes * maxIndices).sort();
  return Uint32Array.from({ length: count }, (_, at) => {
    const rest = (keys[at] as number) % maxIndices;
    return rest < 0 ? rest + maxIndices : rest;
  });
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

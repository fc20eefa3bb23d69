import { type FunctionTable, nameAt, shownNameAt } from './function-table.ts';

/** In which order functions are listed: as they come in the module, the biggest first, or by name. */
export type FunctionOrder = 'index' | 'size' | 'name';

/** Finds functions by their names, and puts them in order. Orders and names in small letters are kept once they are made. */
export interface FunctionFinder {
  /**
   * @param text words, all of which a name has to contain, in any case; none find everything
   * @returns indices of functions
   */
  find(text: string, order: FunctionOrder): Uint32Array<ArrayBuffer>;
}

export function createFunctionFinder(table: FunctionTable): FunctionFinder {
  const orders = new Map<FunctionOrder, Uint32Array<ArrayBuffer>>();
  let lowerNames: readonly string[] | undefined;
  const ordered = (order: FunctionOrder): Uint32Array<ArrayBuffer> => {
    const known = orders.get(order) ?? putInOrder(table, order);
    orders.set(order, known);
    return known;
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

/** A function is found by its name as people write it, and by the one in the module. */
function searchText(table: FunctionTable, index: number): string {
  const [name, shown] = [nameAt(table, index), shownNameAt(table, index)];
  return (name === shown ? name : `${shown}\n${name}`).toLowerCase();
}

function putInOrder(table: FunctionTable, order: FunctionOrder): Uint32Array<ArrayBuffer> {
  if (order === 'size') return bySize(table);
  const indices = Uint32Array.from({ length: table.count }, (_, index) => index);
  if (order === 'index') return indices;
  const names = Array.from({ length: table.count }, (_, index) => shownNameAt(table, index));
  // By code units: half a million comparisons by the rules of a language take seconds.
  return indices.sort((a, b) => compare(names[a] as string, names[b] as string) || a - b);
}

/** More than engines take functions (2 ** 20), so that a size and an index make one number that a double holds. */
const maxIndices = 2 ** 21;

/** Numbers are sorted ten times as fast where no function has to compare them. */
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

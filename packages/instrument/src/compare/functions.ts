import { exportName } from '../binary/exports.ts';
import type { Module } from '../binary/module.ts';
import { readNames } from '../binary/name-section.ts';
import { decodeUtf8 } from '../binary/reader.ts';
import { peekU32, skipLeb } from '../binary/skip.ts';
import { describeFunctionType } from '../binary/types.ts';
import { findIndexSites, type IndexSites, nextSite, readSites, type Sites } from './index-sites.ts';

/** One of the two modules of a comparison. */
export interface Side {
  readonly module: Module;
  readonly sites: IndexSites;
  /** Names from the name section, by function index; empty without one. */
  readonly names: readonly string[];
  /** The first export name that isn't empty, by function index. */
  readonly exportNames: ReadonlyMap<number, string>;
  /** Equal numbers for functions that correspond to each other. */
  readonly functionIds: Uint32Array;
  /** The same for types. */
  typeId(typeIndex: number): number;
}

/** @param typeIds the number of each type, by its text; both sides share it */
export function createSide(module: Module, typeIds: Map<string, number>): Side {
  const { bytes, types } = module;
  const { starts, ends } = readNames(module, []);
  const exportNames = new Map<number, string>();
  for (const entry of module.exports) {
    if (entry.kind !== 'function' || exportNames.has(entry.index)) continue;
    const name = exportName(module, entry);
    if (name !== '') exportNames.set(entry.index, name);
  }
  const ownTypeIds: number[] = [];
  return {
    module,
    sites: findIndexSites(module),
    names: Array.from(starts, (start, index) => decodeUtf8(bytes, start, ends[index] as number) ?? ''),
    exportNames,
    functionIds: new Uint32Array(module.functionTypes.length),
    typeId(typeIndex) {
      const known = ownTypeIds[typeIndex];
      if (known !== undefined) return known;
      const type = types[typeIndex];
      const text = type?.isPlain ? signatureText(bytes, type) : '(ref 0)';
      // A type that refers to others by index is the same only at the same index.
      const key = /\(ref (?:null )?\d/.test(text) ? `#${typeIndex}` : text;
      const id = typeIds.get(key) ?? typeIds.size;
      typeIds.set(key, id);
      ownTypeIds[typeIndex] = id;
      return id;
    },
  };
}

export function signatureText(bytes: Uint8Array, type: Parameters<typeof describeFunctionType>[1]): string {
  const { params, results } = describeFunctionType(bytes, type);
  return `(${params.join(', ')}) → (${results.join(', ')})`;
}

/** A function that corresponds to none in the other module. */
export const unpaired = -1;

/**
 * Finds the functions that correspond to each other: imports by module and name, others by name, those that share a name or have
 * none by their code, and the rest of those in order.
 *
 * @returns for each function of `after`, its function in `before`, or {@link unpaired}
 */
export function pairFunctions(before: Side, after: Side): Int32Array {
  const partners = new Int32Array(after.functionIds.length).fill(unpaired);
  // If one module has no names, those of the other correspond to nothing.
  const hasNames = [before, after].every(({ names }) => names.some((name) => name !== ''));
  const groupsBefore = groupFunctions(before, hasNames);
  for (const [key, own] of groupFunctions(after, hasNames)) {
    const others = groupsBefore.get(key);
    if (others !== undefined) pairGroup(before, others, after, own, partners);
  }
  let lastId = 0;
  before.functionIds.forEach((_, index) => {
    before.functionIds[index] = ++lastId;
  });
  partners.forEach((partner, index) => {
    after.functionIds[index] = partner === unpaired ? ++lastId : (before.functionIds[partner] as number);
  });
  return partners;
}

/** Groups functions by what identifies them. */
function groupFunctions(side: Side, hasNames: boolean): Map<string, number[]> {
  const { module, names, exportNames, functionIds } = side;
  const groups = new Map<string, number[]>();
  functionIds.forEach((_, index) => {
    const entry = module.importedFunctions[index];
    const name = (hasNames ? withoutHash(names[index] as string) : '') || exportNames.get(index);
    const key = entry === undefined ? `own ${name ?? ''}` : `import ${JSON.stringify([entry.module, entry.name])}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [index]);
    else group.push(index);
  });
  return groups;
}

/** Rust's legacy mangling ends with a hash, which any change of a dependency changes. */
function withoutHash(name: string): string {
  return name.replace(/17h[0-9a-f]{16}E$/, '');
}

function pairGroup(
  before: Side,
  others: readonly number[],
  after: Side,
  own: readonly number[],
  partners: Int32Array,
): void {
  let free = others;
  let open = own;
  if (others.length > 1 || own.length > 1) {
    const byCode = new Map<string, number[]>();
    // Reversed, so that pop() takes the first.
    for (const index of others.toReversed()) {
      const key = codeKey(before, index);
      const found = byCode.get(key);
      if (found === undefined) byCode.set(key, [index]);
      else found.push(index);
    }
    const taken = new Set<number>();
    open = own.filter((index) => {
      const partner = byCode.get(codeKey(after, index))?.pop();
      if (partner === undefined) return true;
      partners[index] = partner;
      taken.add(partner);
      return false;
    });
    free = others.filter((index) => !taken.has(index));
  }
  open.forEach((index, position) => {
    partners[index] = free[position] ?? unpaired;
  });
}

/** A key of a function's type and code, without the functions that it calls. Other code may have the same key. */
function codeKey(side: Side, functionIndex: number): string {
  const { module, sites } = side;
  const type = side.typeId(module.functionTypes[functionIndex] as number);
  const body = functionIndex - module.importedFunctions.length;
  if (body < 0) return String(type);
  const range = sites.ofBody(body);
  const { bytes } = module;
  const reader = readSites(range);
  let [hash, length, at] = [0x811c9dc5, 0, range.start];
  for (;;) {
    length += reader.next - at;
    for (; at < reader.next; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
    if (at >= range.end) return `${type} ${hash >>> 0} ${length}`;
    at = skipLeb(bytes, at, 5, functionIndex);
    nextSite(reader);
  }
}

/** Whether two ranges are equal, apart from the numbering of functions and types. */
export function isSameRange(before: Side, left: Sites, after: Side, right: Sites): boolean {
  const [leftBytes, rightBytes] = [before.module.bytes, after.module.bytes];
  const [leftSites, rightSites] = [readSites(left), readSites(right)];
  let [at, to] = [left.start, right.start];
  for (;;) {
    if (leftSites.next - at !== rightSites.next - to) return false;
    while (at < leftSites.next) if (leftBytes[at++] !== rightBytes[to++]) return false;
    const isEnd = at >= left.end;
    if (isEnd !== to >= right.end) return false;
    if (isEnd) return true;
    if (leftSites.isType !== rightSites.isType) return false;
    const [one, other] = [peekU32(leftBytes, at, left.end, 0), peekU32(rightBytes, to, right.end, 0)];
    const isSame = leftSites.isType
      ? before.typeId(one) === after.typeId(other)
      : before.functionIds[one] === after.functionIds[other];
    if (!isSame) return false;
    at = skipLeb(leftBytes, at, 5, 0);
    to = skipLeb(rightBytes, to, 5, 0);
    nextSite(leftSites);
    nextSite(rightSites);
  }
}

import { lastUpTo, type Owned } from './innermost.ts';
import type { CodeRange } from './unit-values.ts';

/** The owners of code. */
export interface CodeOwners<Owner> {
  readonly at: (codeOffset: number) => Owner | undefined;
  /** The parts between two offsets, by ascending offset. */
  readonly within: (start: number, end: number) => readonly (CodeRange & { readonly owner: Owner })[];
}

/**
 * Finds which owner's ranges contain a code offset. Several units contain a function that the linker
 * merged: the unit of the code before it is chosen, else the first one, as LLVM does.
 *
 * @param spend called with the number of owners that are compared
 */
export function findOwners<Owner>(all: readonly Owned<Owner>[], spend: (steps: number) => void): CodeOwners<Owner> {
  const ends = all.flatMap(({ ranges }, owner) =>
    ranges.flatMap(({ start, end }) => [
      { at: start, owner, opens: 1 },
      { at: end, owner, opens: -1 },
    ]),
  );
  ends.sort((a, b) => a.at - b.at);
  /** The owners of open ranges, and how many of each. */
  const open = new Map<number, number>();
  const starts: number[] = [];
  const owners: number[] = [];
  ends.forEach(({ at, owner, opens }, position) => {
    const count = (open.get(owner) ?? 0) + opens;
    if (count === 0) open.delete(owner);
    else open.set(owner, count);
    if (ends[position + 1]?.at === at) return;
    const before = owners.at(-1) ?? -1;
    if (open.has(before)) return;
    spend(open.size);
    starts.push(at);
    let first = -1;
    for (const each of open.keys()) if (first === -1 || each < first) first = each;
    owners.push(first);
  });
  const sorted = Float64Array.from(starts);
  const ownerOf = (part: number): Owner | undefined => all[owners[part] ?? -1]?.owner;
  return {
    at: (codeOffset) => ownerOf(lastUpTo(sorted, codeOffset)),
    within(start, end) {
      const parts: (CodeRange & { owner: Owner })[] = [];
      for (let part = Math.max(0, lastUpTo(sorted, start)); (sorted[part] as number) < end; part++) {
        const owner = ownerOf(part);
        if (owner === undefined) continue;
        const from = Math.max(start, sorted[part] as number);
        parts.push({ start: from, end: Math.min(end, sorted[part + 1] ?? end), owner });
      }
      return parts;
    },
  };
}

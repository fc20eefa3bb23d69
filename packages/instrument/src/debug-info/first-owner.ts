import { lastUpTo, type Owned } from './innermost.ts';

/**
 * Makes a function that finds which owner's ranges contain a code offset. Several units contain a function that the linker
 * merged: the unit of the code before it is chosen, else the first one, as LLVM does.
 *
 * @param spend called with the number of owners that are compared
 */
export function findFirstOwner<Owner>(
  all: readonly Owned<Owner>[],
  spend: (steps: number) => void,
): (codeOffset: number) => Owner | undefined {
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
  return (codeOffset) => all[owners[lastUpTo(sorted, codeOffset)] ?? -1]?.owner;
}

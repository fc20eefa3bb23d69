/** The maximum number of similar names that are stored for a plugin. */
export const maxSimilarNames = 5;

/** From this length, names with one edit between them are similar. Among shorter names there are too many of them. */
const minEditedLength = 5;

/** Characters and pairs that look alike in common fonts. The first of each pair is replaced by the second. */
const lookalikes: readonly (readonly [RegExp, string])[] = [
  [/0/g, 'o'],
  [/[1i]/g, 'l'],
  [/rn/g, 'm'],
  [/vv/g, 'w'],
];

interface FoldedName {
  /** Lower case, without separators. */
  readonly folded: string;
  /** `folded`, with one character for all that look alike. */
  readonly skeleton: string;
}

function fold(name: string): FoldedName {
  const folded = name.toLowerCase().replace(/[-_.]/g, '');
  const skeleton = lookalikes.reduce((text, [from, to]) => text.replace(from, to), folded);
  return { folded, skeleton };
}

/**
 * Returns the entries whose names people may confuse with a plugin's name, at most {@link maxSimilarNames}: those that look the same
 * first, then those with one edit between them. An equal name is not similar, because names are unique only for each guest. Names that
 * differ in digits only, such as `report-1` and `report-2`, are not similar either.
 *
 * The time grows linearly with the number of entries.
 */
export function findSimilarNames<T extends { readonly name: string }>(name: string, others: Iterable<T>): T[] {
  const wanted = fold(name);
  const alike: T[] = [];
  const edited: T[] = [];
  for (const other of others) {
    if (other.name === name) continue;
    const found = fold(other.name);
    if (wanted.skeleton === found.skeleton) alike.push(other);
    else if (edited.length < maxSimilarNames && isEdited(wanted, found)) edited.push(other);
    if (alike.length === maxSimilarNames) break;
  }
  return [...alike, ...edited].slice(0, maxSimilarNames);
}

function isEdited(a: FoldedName, b: FoldedName): boolean {
  const isLong = Math.min(a.skeleton.length, b.skeleton.length) >= minEditedLength;
  return isLong && isOneEdit(a.skeleton, b.skeleton) && !differsInDigitsOnly(a.folded, b.folded);
}

function differsInDigitsOnly(a: string, b: string): boolean {
  return a.length === b.length && a.replace(/\d/g, '0') === b.replace(/\d/g, '0');
}

/** Whether the Damerau–Levenshtein distance of two different texts is 1: one insertion, deletion, replacement, or swap of neighbours. */
function isOneEdit(a: string, b: string): boolean {
  const [long, short] = a.length < b.length ? [b, a] : [a, b];
  if (long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && long[at] === short[at]) at++;
  if (long.length > short.length) return long.slice(at + 1) === short.slice(at);
  if (long.slice(at + 1) === short.slice(at + 1)) return true;
  const isSwapped = long[at] === short[at + 1] && long[at + 1] === short[at];
  return isSwapped && long.slice(at + 2) === short.slice(at + 2);
}

/** Longer words are not compared. */
const maxWordLength = 100;

/** Limits the cells of the distance tables in one search, and so the time to a few milliseconds. */
const maxCells = 2_000_000;

/**
 * Finds the word that was probably meant: one that differs only in case, `_` and `-`; or else the first one with the smallest edit distance.
 * An edit inserts, deletes, replaces, or swaps letters. The distance is at most one edit per three letters, and at most 3.
 *
 * @returns `undefined` if no word is near
 */
export function nearestWord(wanted: string, words: Iterable<string>): string | undefined {
  if (wanted.length > maxWordLength) return undefined;
  const folded = fold(wanted);
  let maxDistance = Math.min(3, Math.floor((wanted.length + 1) / 3));
  let cells = 0;
  let nearest: string | undefined;
  for (const word of words) {
    if (word.length > maxWordLength || word === wanted) continue;
    if (folded !== '' && fold(word) === folded) return word;
    if (maxDistance < 1 || Math.abs(word.length - wanted.length) > maxDistance || cells > maxCells) continue;
    cells += (word.length + 1) * (wanted.length + 1);
    const distance = editDistance(wanted, word);
    if (distance > maxDistance) continue;
    nearest = word;
    maxDistance = distance - 1;
  }
  return nearest;
}

function fold(word: string): string {
  return word.toLowerCase().replace(/[-_]/g, '');
}

/** The optimal string alignment distance: https://en.wikipedia.org/wiki/Damerau%E2%80%93Levenshtein_distance */
function editDistance(a: string, b: string): number {
  let twoBefore: number[] = [];
  let before = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const exchanged = (before[column - 1] as number) + (isSame ? 0 : 1);
      let distance = Math.min(exchanged, (before[column] as number) + 1, (current[column - 1] as number) + 1);
      const isSwapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (isSwapped) distance = Math.min(distance, (twoBefore[column - 2] as number) + 1);
      current.push(distance);
    }
    twoBefore = before;
    before = current;
  }
  return before[b.length] as number;
}

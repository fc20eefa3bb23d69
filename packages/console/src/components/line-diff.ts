/** A line of a diff. `gap` stands for lines that are the same on both sides, and left out. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added' | 'gap';
  readonly text: string;
}

/** Lines of context around a change. */
const contextLines = 2;

/** Above this many compared pairs the changed range is shown whole, removed lines first. */
const maxPairs = 1_000_000;

/** The lines by which two texts differ, by their longest common subsequence, with a little context. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: 'same', text }));
  return withGaps([
    ...same(a.slice(0, start)),
    ...diffRange(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(a.slice(a.length - end)),
  ]);
}

function diffRange(a: readonly string[], b: readonly string[]): DiffLine[] {
  const line = (kind: DiffLine['kind'], text: string | undefined): DiffLine => ({ kind, text: text ?? '' });
  if (a.length * b.length > maxPairs) {
    return [...a.map((text) => line('removed', text)), ...b.map((text) => line('added', text))];
  }
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(line('same', a[i++]));
      j++;
    } else if (i < a.length && (j === b.length || at(i + 1, j) >= at(i, j + 1))) lines.push(line('removed', a[i++]));
    else lines.push(line('added', b[j++]));
  }
  return lines;
}

function withGaps(lines: readonly DiffLine[]): DiffLine[] {
  const isNear = lines.map((_, at) =>
    lines.slice(Math.max(0, at - contextLines), at + contextLines + 1).some(({ kind }) => kind !== 'same'),
  );
  return lines.flatMap((line, at): DiffLine[] => {
    if (isNear[at]) return [line];
    return at === 0 || isNear[at - 1] ? [{ kind: 'gap', text: '' }] : [];
  });
}

import type { FlameGraphData } from './data.ts';
import type { Frames } from './frames.ts';

/** The result of a search. */
export interface Matches {
  /** 1 for each frame whose name matches. */
  readonly isMatch: Uint8Array;
  readonly frames: number;
  /** Spans that the frames stand for. */
  readonly calls: number;
  /** Nanoseconds within matching frames; those within others count once. */
  readonly timeNano: number;
  /** Of each row, how many frames match up to a position: whether any does between two of them is a subtraction. */
  readonly before: readonly Int32Array[];
}

/** Which functions have a text in their name or source; upper and lower case are the same. */
export function matchingNames({ names, sources }: Pick<FlameGraphData, 'names' | 'sources'>, text: string): Uint8Array {
  const wanted = text.toLocaleLowerCase();
  const isIn = (where: string) => where.toLocaleLowerCase().includes(wanted);
  return Uint8Array.from(names, (name, at) => (isIn(name) || isIn(sources[at] ?? '') ? 1 : 0));
}

/** Finds the frames of some names, parents being numbered before children. */
export function findFrames(frames: Frames, isNameMatch: Uint8Array): Matches {
  const isMatch = new Uint8Array(frames.count);
  /** Whether a frame or one that it lies in matches. */
  const isWithin = new Uint8Array(frames.count);
  let found = 0;
  let calls = 0;
  let timeNano = 0;
  for (let frame = 0; frame < frames.count; frame++) {
    const parent = frames.parent[frame] as number;
    const isParentWithin = parent !== -1 && isWithin[parent] === 1;
    isWithin[frame] = isParentWithin ? 1 : 0;
    if (isNameMatch[frames.name[frame] as number] !== 1) continue;
    isMatch[frame] = 1;
    isWithin[frame] = 1;
    found += 1;
    calls += frames.calls[frame] as number;
    if (!isParentWithin) timeNano += frames.total[frame] as number;
  }
  const before = frames.rows.map((row) => {
    const counts = new Int32Array(row.length + 1);
    for (let at = 0; at < row.length; at++) counts[at + 1] = (counts[at] as number) + (isMatch[row[at] as number] ?? 0);
    return counts;
  });
  return { isMatch, frames: found, calls, timeNano, before };
}

/** The total duration of all trees in nanoseconds. */
export function totalTime(frames: Frames): number {
  let sum = 0;
  for (let frame = 0; frame < frames.count; frame++) {
    if (frames.parent[frame] === -1) sum += frames.total[frame] as number;
  }
  return sum;
}

import type { FlameGraphData } from './data.ts';

/** Statistics of the spans of one function. */
export interface FunctionStats {
  /** Its position among the data's names. */
  readonly name: number;
  readonly calls: number;
  readonly failures: number;
  /** Nanoseconds; calls of a function within itself count once. */
  readonly total: number;
  readonly self: number;
  readonly longest: number;
  readonly pages: number;
}

/** The stats of every function, those with the most self time first. */
export function functionStats(data: FlameGraphData): FunctionStats[] {
  const stats = data.names.map((_, name) => ({
    name,
    calls: 0,
    failures: 0,
    total: 0,
    self: 0,
    longest: 0,
    pages: 0,
  }));
  const outermost = findOutermost(data);
  data.name.forEach((name, span) => {
    const entry = stats[name];
    if (entry === undefined) return;
    const duration = data.duration[span] as number;
    entry.calls += 1;
    entry.self += data.self[span] as number;
    entry.pages += data.pages[span] as number;
    entry.longest = Math.max(entry.longest, duration);
    if (outermost[span] === 1) entry.total += duration;
  });
  for (const [span] of data.failures) {
    const entry = stats[data.name[span] as number];
    if (entry !== undefined) entry.failures += 1;
  }
  return stats.sort((a, b) => b.self - a.self || b.total - a.total || a.name - b.name);
}

/** 1 for each span that lies in no other of the same name. */
function findOutermost(data: FlameGraphData): Uint8Array {
  const children: number[][] = data.name.map(() => []);
  const roots: number[] = [];
  for (const [span, parent] of data.parent.entries()) (children[parent] ?? roots).push(span);
  const outermost = new Uint8Array(data.name.length);
  const open = new Int32Array(data.names.length);
  // Each span stands in the list twice: to be entered, and as ~span to be left.
  const left = roots.reverse();
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const span = next < 0 ? ~next : next;
    const name = data.name[span] as number;
    open[name] = (open[name] as number) + (next < 0 ? -1 : 1);
    if (next < 0) continue;
    if (open[name] === 1) outermost[span] = 1;
    left.push(~span);
    for (const child of children[span] as number[]) left.push(child);
  }
  return outermost;
}

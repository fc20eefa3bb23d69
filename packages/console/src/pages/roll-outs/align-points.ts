import type { CallPoint, CallReports } from '@tenon/protocol';

/** What hosts reported of both versions in one period. */
export interface AlignedPoint {
  /** When the period begins. */
  readonly at: string;
  /** Of the version; `undefined` without reports. */
  readonly current: CallPoint | undefined;
  /** Of the version before. */
  readonly before: CallPoint | undefined;
}

/** Pairs the points of both versions, the oldest first. */
export function alignPoints({ version, previous }: Pick<CallReports, 'version' | 'previous'>): AlignedPoint[] {
  const current = byTime(version.points);
  const before = byTime(previous?.points ?? []);
  return [...new Set([...current.keys(), ...before.keys()])]
    .sort()
    .map((at) => ({ at, current: current.get(at), before: before.get(at) }));
}

function byTime(points: readonly CallPoint[]): ReadonlyMap<string, CallPoint> {
  return new Map(points.map((point) => [point.at, point]));
}

const extent = 100;

/** The path of a line through those points that have a value, in a box of 100 by 100. A single point is a dot. */
export function linePath(values: readonly (number | null)[], max: number): string {
  const points = values.flatMap((value, at) =>
    value === null ? [] : [`${round(((at + 0.5) / values.length) * extent)} ${round(extent - (value / max) * extent)}`],
  );
  if (points.length === 0) return '';
  return `M${points.length === 1 ? [points[0], points[0]].join('L') : points.join('L')}`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

import { formatPages } from '../../format.ts';
import type { FlameGraphData } from '../data.ts';
import type { Window } from '../frames.ts';
import type { TimeOrder } from '../time-order.ts';
import type { Scene } from './chart.ts';

/** The track of memory over time; `undefined` where memory neither grew nor is known. */
export function memoryTrack(data: FlameGraphData, { placeOf }: TimeOrder): Scene['memory'] {
  const initial = data.initialPages ?? 0;
  if (data.growth.length === 0 && initial === 0) return undefined;
  const at = Float64Array.from(data.growth, ([time]) => placeOf(time));
  const pages = new Float64Array(data.growth.length);
  let now = initial;
  data.growth.forEach(([, grown], step) => {
    now += grown;
    pages[step] = now;
  });
  const steps = { at, pages, before: initial };
  const pagesAt = (place: number): number => {
    const after = at.findIndex((step) => step > place);
    const last = (after < 0 ? at.length : after) - 1;
    return last < 0 ? initial : (pages[last] as number);
  };
  const label = ({ from, to }: Window): string => {
    const before = pagesAt(from);
    const behind = pagesAt(to);
    if (data.initialPages === null) return `Memory grown: ${formatPages(before)} → ${formatPages(behind)}`;
    return before === behind
      ? `Memory: ${formatPages(behind)}`
      : `Memory: ${formatPages(before)} → ${formatPages(behind)}`;
  };
  return { steps, label };
}

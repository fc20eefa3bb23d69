import { axisMax, shortNumber } from '../../components/usage/axis.ts';
import { linePath } from './align-points.ts';

/** A line per version over the same periods. */
export function LinePlot(props: {
  readonly title: string;
  readonly current: readonly (number | null)[];
  readonly before: readonly (number | null)[];
  /** The first and the last period. */
  readonly ends: readonly [string, string];
  readonly selected: number | undefined;
}) {
  const { title, current, before, ends, selected } = props;
  const max = axisMax([...current, ...before].map((value) => value ?? 0));
  const step = 100 / current.length;
  return (
    <div class="day-plot">
      <h4>{title}</h4>
      <div class="day-plot-area small soft">
        <div class="day-plot-values">
          <span>{shortNumber(max)}</span>
          {max % 2 === 0 ? <span>{shortNumber(max / 2)}</span> : null}
          <span>0</span>
        </div>
        <svg class="line-plot" viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
          {[0, 50, 100].map((y) => (
            <line key={y} x1={0} x2={100} y1={y} y2={y} />
          ))}
          {selected === undefined ? null : <rect class="marker" x={selected * step} width={step} height={100} />}
          <path class="line-before" d={linePath(before, max)} />
          <path class="line-current" d={linePath(current, max)} />
        </svg>
        <svg class="day-plot-days" aria-hidden="true">
          <text x="0%" y="1em" text-anchor="start">
            {ends[0]}
          </text>
          <text x="100%" y="1em" text-anchor="end">
            {ends[1]}
          </text>
        </svg>
      </div>
    </div>
  );
}

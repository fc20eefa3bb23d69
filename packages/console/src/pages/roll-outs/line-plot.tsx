import { axisMax } from '../../components/usage/axis.ts';
import { PlotFrame } from '../../components/usage/plot-frame.tsx';
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
  const ticks = [
    { percent: 0, anchor: 'start', text: ends[0] },
    { percent: 100, anchor: 'end', text: ends[1] },
  ] as const;
  return (
    <PlotFrame
      title={title}
      level={4}
      class="line-plot"
      max={max}
      points={current.length}
      selected={selected}
      ticks={ticks}
    >
      <path class="line-before" d={linePath(before, max)} />
      <path class="line-current" d={linePath(current, max)} />
    </PlotFrame>
  );
}

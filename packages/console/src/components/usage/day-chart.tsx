import { axisMax, dayTicks } from './axis.ts';
import { ChartFrame } from './chart-frame.tsx';
import { PlotFrame, plotHeight, plotWidth } from './plot-frame.tsx';

export interface ChartSeries {
  readonly title: string;
  /** One per day. */
  readonly values: readonly number[];
}

/**
 * Bars per day, one plot for each series with an axis of its own. The last day is today, which is incomplete.
 *
 * @param describe what a day's line says; without a day, what the whole period's says
 */
export function DayChart(props: {
  readonly days: readonly string[];
  readonly series: readonly ChartSeries[];
  readonly describe: (at: number | undefined) => string;
}) {
  const { days, series, describe } = props;
  return (
    <ChartFrame label="Day of the charts" points={days.length} describe={describe}>
      {(selected) =>
        series.map(({ title, values }) => (
          <Plot key={title} title={title} days={days} values={values} selected={selected} />
        ))
      }
    </ChartFrame>
  );
}

/** SVG bars rather than a library's canvas, which has no keyboard access and follows neither theme nor forced colours. */
function Plot(props: ChartSeries & { readonly days: readonly string[]; readonly selected: number | undefined }) {
  const { title, days, values, selected } = props;
  const max = axisMax(values);
  const step = plotWidth / values.length;
  const sizeOf = (value: number): number => (value === 0 ? 0 : Math.max(2, (value / max) * plotHeight));
  const ticks = dayTicks(days).map(({ at, text, anchor }) => {
    const middle = anchor === 'end' ? 1 : anchor === 'start' ? 0 : 0.5;
    return { text, anchor, percent: ((at + middle) / days.length) * 100 };
  });
  return (
    <PlotFrame title={title} level={3} max={max} points={values.length} selected={selected} ticks={ticks}>
      {values.map((value, at) => {
        const size = sizeOf(value);
        return (
          <rect
            key={at}
            class={at === values.length - 1 ? 'today' : undefined}
            x={at * step + step * 0.12}
            y={plotHeight - size}
            width={step * 0.76}
            height={size}
          />
        );
      })}
    </PlotFrame>
  );
}

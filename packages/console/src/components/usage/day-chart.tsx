import { axisMax, dayTicks, shortNumber } from './axis.ts';
import { ChartFrame } from './chart-frame.tsx';

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

const [width, height] = [600, 100];

/** SVG bars rather than a library's canvas, which has no keyboard access and follows neither theme nor forced colours. */
function Plot(props: ChartSeries & { readonly days: readonly string[]; readonly selected: number | undefined }) {
  const { title, days, values, selected } = props;
  const max = axisMax(values);
  const step = width / values.length;
  const sizeOf = (value: number): number => (value === 0 ? 0 : Math.max(2, (value / max) * height));
  return (
    <div class="day-plot">
      <h3>{title}</h3>
      <div class="day-plot-area small soft">
        <div class="day-plot-values">
          <span>{shortNumber(max)}</span>
          {max % 2 === 0 ? <span>{shortNumber(max / 2)}</span> : null}
          <span>0</span>
        </div>
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          {[0, height / 2, height].map((y) => (
            <line key={y} x1={0} x2={width} y1={y} y2={y} />
          ))}
          {selected === undefined ? null : <rect class="marker" x={selected * step} width={step} height={height} />}
          {values.map((value, at) => {
            const size = sizeOf(value);
            return (
              <rect
                key={at}
                class={at === values.length - 1 ? 'today' : undefined}
                x={at * step + step * 0.12}
                y={height - size}
                width={step * 0.76}
                height={size}
              />
            );
          })}
        </svg>
        <svg class="day-plot-days" aria-hidden="true">
          {dayTicks(days).map(({ at, text, anchor }) => (
            <text
              key={at}
              x={`${((at + (anchor === 'end' ? 1 : anchor === 'start' ? 0 : 0.5)) / days.length) * 100}%`}
              y="1em"
              text-anchor={anchor}
            >
              {text}
            </text>
          ))}
        </svg>
      </div>
    </div>
  );
}

import { useState } from 'preact/hooks';
import { axisMax, dayTicks, shortNumber } from './axis.ts';

export interface ChartSeries {
  readonly title: string;
  /** One per day. */
  readonly values: readonly number[];
}

/**
 * Bars per day, one plot for each series with an axis of its own. Arrow keys and the pointer select a day, which all plots mark. The last day
 * is today, which is incomplete.
 *
 * @param describe what a day's line says; without a day, what the whole period's says
 */
export function DayChart(props: {
  readonly days: readonly string[];
  readonly series: readonly ChartSeries[];
  readonly describe: (at: number | undefined) => string;
}) {
  const { days, series, describe } = props;
  const [selected, setSelected] = useState<number>();
  const last = days.length - 1;
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = nextDay(event.key, selected, last);
    if (next === null) return;
    event.preventDefault();
    setSelected(next);
  };
  const onPointer = ({ target, clientX }: PointerEvent): void => {
    const plot = (target as Element).closest('.day-plot')?.querySelector('svg');
    if (!plot) return;
    const { left, width } = plot.getBoundingClientRect();
    setSelected(Math.max(0, Math.min(last, Math.floor(((clientX - left) / width) * days.length))));
  };
  return (
    <div class="day-chart">
      <p class="day-chart-line">{describe(selected)}</p>
      <div
        class="day-plots"
        role="slider"
        tabIndex={0}
        aria-label="Day of the charts"
        aria-valuemin={1}
        aria-valuemax={days.length}
        aria-valuenow={(selected ?? last) + 1}
        aria-valuetext={describe(selected)}
        onKeyDown={onKeyDown}
        onBlur={() => setSelected(undefined)}
        onPointerDown={onPointer}
        onPointerMove={onPointer}
        onPointerLeave={() => setSelected(undefined)}
      >
        {series.map(({ title, values }) => (
          <Plot key={title} title={title} days={days} values={values} selected={selected} />
        ))}
      </div>
    </div>
  );
}

/** Returns the day that a key selects: `undefined` is the whole period, `null` is another key. */
function nextDay(key: string, selected: number | undefined, last: number): number | undefined | null {
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  if (key === 'Escape') return selected === undefined ? null : undefined;
  if (key === 'ArrowLeft' || key === 'ArrowDown') return Math.max(0, (selected ?? last + 1) - 1);
  if (key === 'ArrowRight' || key === 'ArrowUp') return Math.min(last, (selected ?? last) + 1);
  return null;
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

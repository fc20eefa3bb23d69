import type { ComponentChildren } from 'preact';
import { shortNumber } from './axis.ts';

/** The size of the drawing, which is stretched to the width of its column. */
export const [plotWidth, plotHeight] = [100, 100];

/** The heading, axes, and selected point of a plot. Its children are drawn in SVG, from 0 to {@link plotWidth} and {@link plotHeight}. */
export function PlotFrame(props: {
  readonly title: string;
  readonly level: 3 | 4;
  readonly class?: string;
  /** The upper end of the vertical axis. */
  readonly max: number;
  /** How many points there are. */
  readonly points: number;
  readonly selected: number | undefined;
  /** The texts of the horizontal axis. */
  readonly ticks: readonly {
    readonly percent: number;
    readonly anchor: 'start' | 'middle' | 'end';
    readonly text: string;
  }[];
  readonly children: ComponentChildren;
}) {
  const { title, level, max, points, selected, ticks, children } = props;
  const Heading = level === 3 ? 'h3' : 'h4';
  const step = plotWidth / points;
  return (
    <div class="day-plot">
      <Heading>{title}</Heading>
      <div class="day-plot-area small soft">
        <div class="day-plot-values">
          <span>{shortNumber(max)}</span>
          {max % 2 === 0 ? <span>{shortNumber(max / 2)}</span> : null}
          <span>0</span>
        </div>
        <svg
          class={props.class}
          viewBox={`0 0 ${plotWidth} ${plotHeight}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          {[0, plotHeight / 2, plotHeight].map((y) => (
            <line key={y} x1={0} x2={plotWidth} y1={y} y2={y} />
          ))}
          {selected === undefined ? null : <rect class="marker" x={selected * step} width={step} height={plotHeight} />}
          {children}
        </svg>
        <svg class="day-plot-days" aria-hidden="true">
          {ticks.map(({ percent, anchor, text }) => (
            <text key={percent} x={`${percent}%`} y="1em" text-anchor={anchor}>
              {text}
            </text>
          ))}
        </svg>
      </div>
    </div>
  );
}

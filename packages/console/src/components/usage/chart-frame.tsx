import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

/**
 * Plots over the same points of time, with the line that describes the selected point. Arrow keys and the pointer select a point.
 *
 * @param describe what the line says of a point; without a point, of all
 */
export function ChartFrame(props: {
  /** What the slider selects: "Day of the charts". */
  readonly label: string;
  readonly points: number;
  readonly describe: (at: number | undefined) => string;
  /** The plots, each of which marks the selected point. */
  readonly children: (selected: number | undefined) => ComponentChildren;
}) {
  const { label, points, describe } = props;
  const [chosen, setSelected] = useState<number>();
  const last = points - 1;
  const selected = chosen === undefined ? undefined : Math.min(chosen, last);
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = nextPoint(event.key, selected, last);
    if (next === null) return;
    event.preventDefault();
    setSelected(next);
  };
  const onPointer = ({ target, clientX }: PointerEvent): void => {
    const plot = (target as Element).closest('.day-plot')?.querySelector('svg');
    if (!plot) return;
    const { left, width } = plot.getBoundingClientRect();
    setSelected(Math.max(0, Math.min(last, Math.floor(((clientX - left) / width) * points))));
  };
  return (
    <div class="day-chart">
      <p class="day-chart-line">{describe(selected)}</p>
      <div
        class="day-plots"
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={1}
        aria-valuemax={points}
        aria-valuenow={(selected ?? last) + 1}
        aria-valuetext={describe(selected)}
        onKeyDown={onKeyDown}
        onBlur={() => setSelected(undefined)}
        onPointerDown={onPointer}
        onPointerMove={onPointer}
        onPointerLeave={() => setSelected(undefined)}
      >
        {props.children(selected)}
      </div>
    </div>
  );
}

/** Returns the point that a key selects: `undefined` is all, `null` is another key. */
function nextPoint(key: string, selected: number | undefined, last: number): number | undefined | null {
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  if (key === 'Escape') return selected === undefined ? null : undefined;
  if (key === 'ArrowLeft' || key === 'ArrowDown') return Math.max(0, (selected ?? last + 1) - 1);
  if (key === 'ArrowRight' || key === 'ArrowUp') return Math.min(last, (selected ?? last) + 1);
  return null;
}

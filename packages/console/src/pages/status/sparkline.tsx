const width = 240;
const height = 44;
const slots = 60;

/** The last hour as a bar per minute, with its maximum and its last value. */
export function Sparkline({
  label,
  values,
  format,
  tone,
}: {
  readonly label: string;
  /** Oldest first; `null` for minutes without a measurement. */
  readonly values: readonly (number | null)[];
  readonly format: (value: number) => string;
  readonly tone: 'plain' | 'bad';
}) {
  const most = Math.max(0, ...values.map((value) => value ?? 0));
  const last = values.at(-1) ?? null;
  const words = `max ${format(most)}, ${last === null ? 'nothing' : format(last)} in the last minute`;
  const step = width / slots;
  const first = slots - values.length;
  return (
    <figure class="spark">
      <figcaption>
        <span>{label}</span> <span class="soft small">{words}</span>
      </figcaption>
      <svg
        class={`spark-${tone}`}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        aria-hidden="true" // the caption says it in words
      >
        <line x1={0} x2={width} y1={height - 0.5} y2={height - 0.5} />
        {values.map((value, at) => {
          if (value === null || value === 0 || most === 0) return null;
          const size = Math.max(1.5, (value / most) * (height - 2));
          const x = (first + at) * step;
          return <rect key={at} x={x} y={height - size} width={step - 1} height={size} />;
        })}
      </svg>
    </figure>
  );
}

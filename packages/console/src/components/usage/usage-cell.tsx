import type { UsageSeries } from '@tenon/protocol';
import { count } from '../count.ts';
import './usage.css';

const [width, height] = [60, 20];

/** The list requests of the last 30 days in a table: their number, and a bar per day. */
export function UsageCell({ series }: { readonly series: UsageSeries | undefined }) {
  if (series === undefined || series.totals.listRequests === 0) return <span class="soft">none</span>;
  const values = series.listRequests;
  const most = Math.max(1, ...values);
  const step = width / values.length;
  return (
    <span class="usage-cell">
      <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">
        <line x1={0} x2={width} y1={height - 0.5} y2={height - 0.5} />
        {values.map((value, at) => {
          const size = value === 0 ? 0 : Math.max(2, (value / most) * height);
          return <rect key={at} x={at * step} y={height - size} width={step - 0.5} height={size} />;
        })}
      </svg>
      {count(series.totals.listRequests)}
    </span>
  );
}

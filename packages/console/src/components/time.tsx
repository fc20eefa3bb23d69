import { useEffect, useMemo, useState } from 'preact/hooks';
import { relativeTime } from './relative-time.ts';

const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });

/** A relative time with the exact one as its title. `null` is "never". */
export function Time({ at }: { readonly at: string | null }) {
  const [tick, setTick] = useState(0);
  const nowMs = useMemo(() => Date.now(), [at, tick]); // so that a newer time isn't compared with an older clock
  useEffect(() => {
    const timer = setInterval(() => setTick((count) => count + 1), 60_000);
    return () => clearInterval(timer);
  }, []);
  if (at === null) return <span class="soft">never</span>;
  const date = new Date(at);
  return (
    <time dateTime={at} title={exact.format(date)}>
      {relativeTime(date.getTime(), nowMs)}
    </time>
  );
}

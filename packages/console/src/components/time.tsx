import { useEffect, useState } from 'preact/hooks';
import { relativeTime } from './relative-time.ts';

const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });

/** A time as people speak of it, with the exact one to look at. `null` is "never". */
export function Time({ at }: { readonly at: string | null }) {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 60_000);
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

import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useData } from '../../state/use-data.ts';
import { Loaded } from '../loaded.tsx';
import { Section } from '../page.tsx';
import type { Subject } from './usage-report.tsx';

/**
 * How hosts used a plugin or a guest in the last 30 days: charts, their table, the versions that hosts run, and the programs.
 *
 * @param apiPath the path of the plugin or guest in the API
 */
export function UsageSection({ apiPath, of }: { readonly apiPath: string; readonly of: Subject }) {
  const section = useRef<HTMLDivElement>(null);
  const isNear = useIsNear(section);
  return (
    <Section title="Usage" intro="What hosts requested in the last 30 days. Numbers are up to a minute old.">
      <div ref={section}>{isNear ? <LoadedReport path={`${apiPath}/usage`} of={of} /> : null}</div>
    </Section>
  );
}

function LoadedReport(props: { readonly path: string; readonly of: Subject }) {
  const code = useData(() => import('./usage-report.tsx'), []);
  return <Loaded of={code}>{({ UsageReportView }) => <UsageReportView {...props} />}</Loaded>;
}

/** Whether the user has been near an element. */
function useIsNear(ref: RefObject<Element | null>): boolean {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const note = (entries: readonly IntersectionObserverEntry[]): void => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setNear(true);
    };
    const observer = new IntersectionObserver(note, { rootMargin: '300px' });
    if (ref.current !== null) observer.observe(ref.current);
    return () => observer.disconnect();
  }, [ref]);
  return isNear;
}

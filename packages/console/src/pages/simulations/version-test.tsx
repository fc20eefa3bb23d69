import type { Version } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Badge } from '../../components/badge.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { useData } from '../../state/use-data.ts';
import type { TestProps } from './fetched-test.tsx';
import { type KnownVerdict, verdictBadges, verdictWords } from './verdict-words.ts';

/** What a version's simulations found, as far as it is known. */
export function knownVerdict({ state, verdict }: Pick<Version, 'state' | 'verdict'>): KnownVerdict | undefined {
  if (state === 'testing' && verdict !== 'errored') return 'testing';
  return verdict ?? undefined;
}

export function VerdictBadge({ version }: { readonly version: Pick<Version, 'state' | 'verdict'> }) {
  const verdict = knownVerdict(version);
  return verdict === undefined ? null : <Badge kind={verdictBadges[verdict]}>{verdictWords[verdict]}</Badge>;
}

/** The results of a version's simulations. Fetched when it is opened. */
export function VersionTestDetails(props: TestProps) {
  const { state, verdict } = props.version;
  const [isOpen, setOpen] = useState(props.isOpen && (state === 'failed' || state === 'testing'));
  if (verdict === null && state !== 'testing') return null;
  return (
    <details class="version-diff" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Simulations<span class="visually-hidden"> of {props.of}</span>
      </summary>
      {isOpen ? <LazyTest {...props} /> : null}
    </details>
  );
}

/** The code is loaded when it is needed. */
function LazyTest(props: TestProps) {
  const code = useData(() => import('./fetched-test.tsx'), []);
  return <Loaded of={code}>{({ FetchedTest }) => <FetchedTest {...props} />}</Loaded>;
}

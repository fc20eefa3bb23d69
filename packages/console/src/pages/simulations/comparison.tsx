import { useState } from 'preact/hooks';
import { Loaded } from '../../components/loaded.tsx';
import { useData } from '../../state/use-data.ts';

interface ComparisonProps {
  /** The version's path in the API. */
  readonly versionPath: string;
  /** The number of the other version; by default the newest other one that is bound. */
  readonly against?: number | undefined;
}

/** How a version behaves beside the active one. Its code and data are fetched when it is opened. */
export function ComparisonDetails({ of, ...props }: ComparisonProps & { readonly of: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="version-diff" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        How it behaves<span class="visually-hidden">: {of}</span>
      </summary>
      {isOpen ? <LazyComparison {...props} /> : null}
    </details>
  );
}

function LazyComparison(props: ComparisonProps) {
  const code = useData(() => import('./comparison-view.tsx'), []);
  return <Loaded of={code}>{({ FetchedComparison }) => <FetchedComparison {...props} />}</Loaded>;
}

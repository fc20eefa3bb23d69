import { useState } from 'preact/hooks';
import { Loaded } from '../../components/loaded.tsx';
import { Section } from '../../components/page.tsx';
import { useData } from '../../state/use-data.ts';
import type { RollOutProps } from './roll-out-props.ts';

/** The roll-out of a version as a section: its steps, its share, what hosts report, and its actions. */
export function RollOutSection(props: RollOutProps) {
  return (
    <Section title={`Roll-out of version ${props.version.number}`}>
      <LoadedPanel {...props} />
    </Section>
  );
}

/** A roll-out that doesn't decide which guests have the version. Fetched when it is opened. */
export function RollOutDetails(props: RollOutProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Roll-out<span class="visually-hidden"> of version {props.version.number}</span>
      </summary>
      {isOpen ? <LoadedPanel {...props} /> : null}
    </details>
  );
}

/** Few versions have a roll-out, so that pages load its code on demand. */
function LoadedPanel(props: RollOutProps) {
  const code = useData(() => import('./roll-out-panel.tsx'), []);
  return <Loaded of={code}>{({ RollOutPanel }) => <RollOutPanel {...props} />}</Loaded>;
}

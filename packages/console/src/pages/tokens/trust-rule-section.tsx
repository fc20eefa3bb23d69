import type { TrustRule } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Section } from '../../components/page.tsx';
import type { PagedList } from '../../state/use-list.ts';
import { NewRuleDialog } from './new-rule-dialog.tsx';
import { TrustRuleTable, type TrustRuleTableProps } from './trust-rule-table.tsx';

interface TrustRuleSectionProps extends Omit<TrustRuleTableProps, 'empty'> {
  readonly rules: PagedList<TrustRule>;
  readonly intro: string;
  /** The label of the button that adds a rule; omitted if the user may not. */
  readonly addLabel: string | undefined;
  /** Shown if there are no rules. */
  readonly children: ComponentChildren;
}

/** Rules of trusted publishing, and the dialog that adds one. */
export function TrustRuleSection({ intro, addLabel, children, ...table }: TrustRuleSectionProps) {
  const { rules } = table;
  const [isAdding, setAdding] = useState(false);
  const addButton = addLabel === undefined ? undefined : <Button onClick={() => setAdding(true)}>{addLabel}</Button>;
  return (
    <Section title="Trusted publishing" intro={intro} actions={rules.isEmpty ? undefined : addButton}>
      <TrustRuleTable
        {...table}
        empty={
          <EmptyState title="No rules" action={addButton}>
            <p>{children}</p>
          </EmptyState>
        }
      />
      {isAdding ? (
        <NewRuleDialog
          onMade={() => {
            rules.page.reload();
            setAdding(false);
          }}
          onClose={() => setAdding(false)}
        />
      ) : null}
    </Section>
  );
}

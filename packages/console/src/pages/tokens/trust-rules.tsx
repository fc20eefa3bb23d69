import type { TrustRule } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Section } from '../../components/page.tsx';
import type { PagedList } from '../../state/use-list.ts';
import { NewRuleDialog } from './new-rule-dialog.tsx';
import { TrustRuleTable } from './trust-rule-table.tsx';

/** The rules by which CI jobs publish in the user's name. */
export function TrustRulesSection({ rules }: { readonly rules: PagedList<TrustRule> }) {
  const [isAdding, setAdding] = useState(false);
  const addButton = <Button onClick={() => setAdding(true)}>New rule</Button>;
  return (
    <Section
      title="Trusted publishing"
      intro="CI jobs that these rules allow publish plugins of yours, without a stored token."
      actions={rules.isEmpty ? undefined : addButton}
    >
      <TrustRuleTable
        rules={rules}
        empty={
          <EmptyState title="No rules" action={addButton}>
            <p>
              With a rule, jobs of a repository on GitHub, GitLab, Forgejo, or elsewhere run{' '}
              <code>tenon plugin push</code> without a token.
            </p>
          </EmptyState>
        }
        target={({ plugin, guestId }) =>
          plugin === null ? (
            <>
              all plugins under <code class="small">{guestId}</code>
            </>
          ) : (
            plugin.name
          )
        }
        deletePath={({ id }) => `/api/v1/trust-rules/${id}`}
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

import type { TrustRule } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { Time } from '../../components/time.tsx';
import type { PagedList } from '../../state/use-list.ts';

export interface TrustRuleTableProps {
  readonly rules: PagedList<TrustRule>;
  readonly empty: ComponentChildren;
  /** What a rule lets CI jobs publish. */
  readonly target: (rule: TrustRule) => ComponentChildren;
  /** Whether to name the user in whose name jobs publish. */
  readonly showsUser?: boolean;
  /** The path in the API to delete a rule; omitted if the user may not. */
  readonly deletePath?: ((rule: TrustRule) => string) | undefined;
}

/** Rules of trusted publishing. */
export function TrustRuleTable({ rules, empty, target, showsUser = false, deletePath }: TrustRuleTableProps) {
  const [toDelete, setToDelete] = useState<TrustRule>();
  return (
    <>
      <DataTable
        list={rules}
        caption="Rules for CI jobs"
        noun="rule"
        empty={empty}
        rowKey={({ id }) => id}
        columns={[
          { header: 'Publishes', cell: target },
          ...(showsUser ? [{ header: 'Publisher', cell: ({ user }: TrustRule) => user.name }] : []),
          { header: 'Issuer', cell: ({ issuer }) => <code class="small">{issuer}</code> },
          {
            header: 'Claims',
            cell: ({ claims }) => (
              <code class="small">
                {Object.entries(claims)
                  .map(([name, value]) => `${name}=${value}`)
                  .join(' ')}
              </code>
            ),
          },
          { header: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
          {
            header: 'Actions',
            isActions: true,
            cell: (rule) =>
              deletePath === undefined ? null : (
                <Button kind="quiet" isSmall label={`Delete the rule ${rule.id}`} onClick={() => setToDelete(rule)}>
                  Delete…
                </Button>
              ),
          },
        ]}
      />
      {toDelete === undefined || deletePath === undefined ? null : (
        <DeleteDialog
          title="Delete this rule?"
          action="Delete rule"
          onClose={() => setToDelete(undefined)}
          apiPath={deletePath(toDelete)}
          done="Rule deleted."
          onDone={rules.page.reload}
        >
          <p>CI jobs can’t publish by it any more. The tokens that it issued stop working immediately.</p>
        </DeleteDialog>
      )}
    </>
  );
}

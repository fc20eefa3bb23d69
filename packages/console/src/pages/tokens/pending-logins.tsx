import type { PendingLogin } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import type { PagedList } from '../../state/use-list.ts';

/** Logins that were approved and whose program has not fetched its token. Shown only if there are any. */
export function PendingLoginsSection({ logins }: { readonly logins: PagedList<PendingLogin> }) {
  const [revoked, setRevoked] = useState<PendingLogin>();
  if (logins.isEmpty || logins.page.status !== 'ready') return null;
  const nameOf = ({ deviceName }: PendingLogin) => deviceName ?? 'a device without a name';
  return (
    <Section title="Pending logins" intro="Logins that you approved. The program has not fetched its token yet.">
      <DataTable
        list={logins}
        caption="Pending logins"
        noun="login"
        empty={null}
        rowKey={({ id }) => id}
        columns={[
          { header: 'Device', cell: nameOf },
          { header: 'From', cell: ({ address }) => <code>{address}</code> },
          { header: 'Permissions', cell: ({ scopes }) => scopes.join(', ') },
          { header: 'Started', cell: ({ createdAt }) => <Time at={createdAt} /> },
          { header: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
          {
            header: 'Actions',
            isActions: true,
            cell: (login) => (
              <Button kind="quiet" isSmall label={`Revoke ${nameOf(login)}`} onClick={() => setRevoked(login)}>
                Revoke…
              </Button>
            ),
          },
        ]}
      />
      {revoked === undefined ? null : (
        <DeleteDialog
          title={`Revoke the login of ${nameOf(revoked)}?`}
          action="Revoke login"
          onClose={() => setRevoked(undefined)}
          apiPath={`/api/v1/logins/${revoked.id}`}
          done="Login revoked."
          onDone={logins.page.reload}
        >
          <p>The program gets no token.</p>
        </DeleteDialog>
      )}
    </Section>
  );
}

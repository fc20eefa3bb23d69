import type { Session } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { ListView } from '../../components/list-view.tsx';
import { Section } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useServices } from '../../state/services.ts';
import type { PagedList } from '../../state/use-list.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { LastUse } from '../tokens/last-use.tsx';
import { browserName } from './browser-name.ts';

/** The browsers in which the user is signed in. */
export function SessionsSection({ sessions }: { readonly sessions: PagedList<Session> }) {
  const { session, toasts } = useServices();
  const { page } = sessions;
  const [isEndingAll, setEndingAll] = useState(false);
  const others = page.status === 'ready' ? page.data.objects.filter(({ isCurrent }) => !isCurrent) : [];

  const end = async (ended: readonly Session[]): Promise<void> => {
    for (const { id } of ended) await session.api.delete(`/api/v1/sessions/${id}`);
    page.reload();
    toasts.show(ended.length === 1 ? 'Browser signed out.' : 'All other browsers signed out.');
  };

  return (
    <Section
      title="Browsers"
      intro="Where you are signed in."
      actions={
        others.length === 0 ? undefined : (
          <Button kind="quiet" isSmall onClick={() => setEndingAll(true)}>
            Sign out all others
          </Button>
        )
      }
    >
      <ListView list={sessions} caption="Browsers in which you are signed in" noun="browser" empty={null}>
        {(list) => (
          <Table
            caption="Browsers in which you are signed in"
            rows={list.toSorted((a, b) => Number(b.isCurrent) - Number(a.isCurrent))}
            rowKey={({ id }) => id}
            columns={[
              {
                header: 'Browser',
                cell: ({ userAgent, isCurrent }) => (
                  <>
                    <span title={userAgent ?? undefined}>{browserName(userAgent)}</span>{' '}
                    {isCurrent ? <Badge kind="good">this one</Badge> : null}
                  </>
                ),
              },
              {
                header: 'Signed in',
                cell: ({ createdAt, address }) => <LastUse at={createdAt} address={address} />,
              },
              {
                header: 'Last used',
                cell: ({ lastUsedAt, lastUsedAddress }) => <LastUse at={lastUsedAt} address={lastUsedAddress} />,
              },
              { header: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
              {
                header: 'Actions',
                isActions: true,
                cell: (row) => (row.isCurrent ? null : <EndButton session={row} onEnd={() => end([row])} />),
              },
            ]}
          />
        )}
      </ListView>
      {isEndingAll ? (
        <ConfirmDialog
          title="Sign out all other browsers?"
          action="Sign out others"
          onClose={() => setEndingAll(false)}
          onConfirm={async () => {
            await end(others);
            setEndingAll(false);
          }}
        >
          <p>You stay signed in here. Access tokens of programs keep working.</p>
        </ConfirmDialog>
      ) : null}
    </Section>
  );
}

function EndButton({ session, onEnd }: { readonly session: Session; readonly onEnd: () => Promise<void> }) {
  const { toasts } = useServices();
  const { submit, isBusy } = useSubmit(() => onEnd().catch((error: Error) => toasts.show(error.message, 'failed')));
  return (
    <Button kind="quiet" isSmall isBusy={isBusy} onClick={submit} label={`Sign out ${browserName(session.userAgent)}`}>
      Sign out
    </Button>
  );
}

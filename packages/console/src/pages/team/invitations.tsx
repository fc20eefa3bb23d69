import type { App, Invitation } from '@tenon/protocol';
import { maxCounted } from '@tenon/protocol/list-limits';
import { useState } from 'preact/hooks';
import { Button, LinkButton } from '../../components/button.tsx';
import { count, counted } from '../../components/count.ts';
import { DataTable } from '../../components/data-table.tsx';
import { Link } from '../../components/link.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useHeadingFocus } from '../../state/use-heading-focus.ts';
import { useList } from '../../state/use-list.ts';
import { AppFrame } from './app-frame.tsx';
import { type BulkChange, BulkDialog } from './bulk/bulk-dialog.tsx';
import { InvitationBadge } from './invitation-badge.tsx';
import { InvitationNote } from './invitation-note.tsx';
import { mayManage, useApp } from './use-app.ts';

/** An application's invitations of guests. */
export function InvitationsPage() {
  const { app } = useApp();
  return (
    <AppFrame app={app} part="Invitations">
      {(data) => <Invitations app={data} />}
    </AppFrame>
  );
}

/** Whether an invitation can be renewed and revoked. */
const isOpen = ({ status }: Invitation): boolean => status === 'pending' || status === 'expired';

function Invitations({ app }: { readonly app: App }) {
  const list = useList<Invitation>(`/api/v1/apps/${app.id}/invitations`, {
    filters: ['status', 'olderThanDays'],
    sort: '-createdAt',
  });
  const { page, query } = list;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [coversAll, setCoversAll] = useState(false);
  const [asked, setAsked] = useState<BulkChange>();
  const keepFocus = useHeadingFocus();
  const isManager = mayManage(app.role);
  const rows = page.status === 'ready' ? page.data.objects : [];
  const total = page.status === 'ready' ? (page.data.total ?? rows.length) : 0;
  const open = rows.filter(isOpen);
  const ids = open.filter(({ id }) => chosen.has(id)).map(({ id }) => id);
  const isPageChosen = open.length > 0 && ids.length === open.length;
  const { status, q, olderThanDays } = query;
  const filter =
    status === 'pending' || status === 'expired'
      ? { status, q, ...(olderThanDays === undefined ? {} : { olderThanDays: Number(olderThanDays) }) }
      : undefined;
  const isAll = coversAll && isPageChosen && filter !== undefined;
  const choose = (changed: readonly string[], isChosen: boolean): void => {
    setCoversAll(false);
    setChosen((now) => new Set(isChosen ? [...now, ...changed] : [...now].filter((id) => !changed.includes(id))));
  };
  const selected = isAll ? total : ids.length;
  const ask = (action: BulkChange['action']): void =>
    setAsked({ action, count: selected, isMore: selected > maxCounted, body: isAll ? { filter } : { ids } });
  return (
    <Section
      title="Invitations of guests"
      actions={
        <LinkButton kind="quiet" isSmall to={`/apps/${app.id}/guests`}>
          Guests
        </LinkButton>
      }
    >
      <DataTable
        list={list}
        caption="Invitations of guests"
        noun="invitation"
        searchHint="Guest key, label, name or e-mail address"
        filters={[
          { name: 'status', label: 'Any state', options: statuses },
          { name: 'olderThanDays', label: 'Any age', options: ages },
        ]}
        empty={<p class="soft">No invitations yet.</p>}
        rowKey={({ id }) => id}
        columns={[
          {
            header: 'Guest key',
            cell: (one) => (
              <span class="select-row">
                {isManager ? (
                  <input
                    type="checkbox"
                    aria-label={`Select the invitation for ${one.name ?? one.email ?? one.guestKey}`}
                    checked={chosen.has(one.id) && isOpen(one)}
                    disabled={!isOpen(one)}
                    onChange={(event) => choose([one.id], event.currentTarget.checked)}
                  />
                ) : null}
                <Link to={`/apps/${app.id}/guests/${one.guestId}`}>
                  <code>{one.guestKey}</code>
                </Link>
              </span>
            ),
          },
          { header: 'Label', cell: ({ guestLabel }) => guestLabel ?? <span class="soft">–</span> },
          { header: 'For', cell: (one) => <InvitationNote invitation={one} /> },
          { header: 'Created', sort: 'createdAt', cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            header: 'State',
            cell: ({ status, settledAt, expiresAt }) => (
              <>
                <InvitationBadge status={status} />{' '}
                <span class="soft small">
                  {status === 'pending' ? 'expires ' : ''}
                  <Time at={settledAt ?? expiresAt} />
                </span>
              </>
            ),
          },
        ]}
      />
      {isManager && open.length > 0 ? (
        <section class="bulk-bar" aria-label="Selected invitations">
          <span class="select-row">
            <input
              type="checkbox"
              id="choose-page"
              checked={isPageChosen}
              onChange={(event) =>
                choose(
                  open.map(({ id }) => id),
                  event.currentTarget.checked,
                )
              }
            />
            <label for="choose-page">Select all open invitations on this page</label>
          </span>
          <span role="status" class="soft">
            {selected === 0
              ? 'None selected'
              : `${selected > maxCounted ? 'More than ' : ''}${count(Math.min(selected, maxCounted))} selected`}
          </span>
          {isPageChosen && filter !== undefined && total > open.length && !isAll ? (
            <Button kind="quiet" isSmall onClick={() => setCoversAll(true)}>
              Select all {total > maxCounted ? `more than ${count(maxCounted)}` : count(total)} that match
            </Button>
          ) : null}
          <span class="row-actions">
            <Button kind="quiet" isSmall isDisabled={selected === 0} onClick={() => ask('renew')}>
              New links…
            </Button>
            <Button kind="quiet" isSmall isDisabled={selected === 0} onClick={() => ask('revoke')}>
              Revoke…
            </Button>
          </span>
        </section>
      ) : null}
      {asked === undefined ? null : (
        <BulkDialog
          app={app}
          change={asked}
          onChanged={() => {
            keepFocus();
            setChosen(new Set());
            setCoversAll(false);
            page.reload();
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
      {isManager ? (
        <p class="soft small">To select all invitations of a kind, filter by Pending or Expired, and by age.</p>
      ) : null}
    </Section>
  );
}

const statuses = [
  { value: 'pending', label: 'Pending' },
  { value: 'expired', label: 'Expired' },
  { value: 'accepted', label: 'Accepted' },
  { value: 'declined', label: 'Declined' },
  { value: 'revoked', label: 'Revoked' },
];

const ages = [1, 3, 7, 14, 30, 90].map((days) => ({
  value: String(days),
  label: `Older than ${counted(days, 'day')}`,
}));

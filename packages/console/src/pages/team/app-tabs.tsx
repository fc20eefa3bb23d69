import type { App, Approval, ListPage } from '@tenon/protocol';
import { type Tab, Tabs } from '../../components/tabs.tsx';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { mayOwn } from './use-app.ts';

/**
 * The parts of an application, for whatever one is in it: member, guest or both.
 *
 * @param approvals how many versions wait, on the page that knows it already
 */
export function AppTabs({ app, approvals }: { readonly app: App; readonly approvals?: number | undefined }) {
  const base = `/apps/${app.id}`;
  const isMember = app.role !== 'guest';
  const waiting = useWaiting(app, approvals);
  const team: readonly Tab[] = [
    { label: 'Overview', to: base },
    { label: 'Extension points', to: `${base}/extension-points` },
    { label: 'Guests', to: `${base}/guests` },
    { label: 'Approvals', to: `${base}/approvals`, count: waiting },
    { label: 'Team', to: `${base}/members` },
    ...(mayOwn(app.role) ? [{ label: 'Audit trail', to: `${base}/audit` }] : []),
  ];
  const guest: readonly Tab[] = [{ label: 'My plugins', to: `${base}/plugins` }];
  return (
    <Tabs
      label={`Parts of ${app.name}`}
      tabs={[...(isMember ? team : []), ...(app.guests.length === 0 ? [] : guest)]}
    />
  );
}

/** The largest number that the tab shows. */
const counted = 99;

/** How many versions wait for the team, in a word; nothing while that is not known, and of none. */
function useWaiting({ id, role }: App, known: number | undefined): string | undefined {
  const api = useApi();
  const found = useCachedData(`waiting ${id}`, async (signal) => {
    if (known !== undefined) return known;
    if (role === 'guest') return 0;
    const path = `/api/v1/apps/${id}/approvals`;
    return (await api.get<ListPage<Approval>>(path, { query: { limit: 1 }, signal })).total ?? 0;
  });
  const count = known ?? (found.status === 'ready' ? found.data : 0);
  if (count === 0) return undefined;
  return count > counted ? `${counted}+` : String(count);
}

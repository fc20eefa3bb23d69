import type { App, AppOverview } from '@tenon/protocol';
import { type Tab, Tabs } from '../../components/tabs.tsx';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { overviewPath } from './overview-path.ts';
import { mayOwn } from './use-app.ts';

/** The number of versions that await approval, or that the page is about to know it; `undefined` on other pages. */
export type KnownApprovals = number | 'loading' | undefined;

/** The parts of an application, for its members and guests. */
export function AppTabs({ app, approvals }: { readonly app: App; readonly approvals?: KnownApprovals }) {
  const base = `/apps/${app.id}`;
  const isMember = app.role !== 'guest';
  const waiting = useWaiting(app, approvals);
  const team: readonly Tab[] = [
    { label: 'Overview', to: base },
    { label: 'Plugins', to: `${base}/plugins` },
    { label: 'Extension points', to: `${base}/extension-points` },
    { label: 'Guests', to: `${base}/guests`, parts: [`${base}/guests/import`, `${base}/invitations`] },
    { label: 'Approvals', to: `${base}/approvals`, count: waiting, parts: [`${base}/roll-outs`] },
    { label: 'Team', to: `${base}/members` },
    ...(mayOwn(app.role) ? [{ label: 'Audit trail', to: `${base}/audit` }] : []),
    {
      label: 'Settings',
      to: `${base}/settings`,
      parts: [`${base}/withdraw`, `${base}/trusted-publishing`, `${base}/webhooks`],
    },
  ];
  const guest: readonly Tab[] = [{ label: 'My plugins', to: `${base}/my-plugins` }];
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
function useWaiting({ id, role }: App, known: KnownApprovals): string | undefined {
  const api = useApi();
  const isAsked = known === undefined && role !== 'guest';
  const found = useCachedData(`waiting ${id} ${isAsked}`, async (signal) => {
    return isAsked ? (await api.get<AppOverview>(overviewPath(id), { signal })).awaitingApproval : 0;
  });
  const count = typeof known === 'number' ? known : found.status === 'ready' ? found.data : 0;
  if (count === 0) return undefined;
  return count > counted ? `${counted}+` : String(count);
}

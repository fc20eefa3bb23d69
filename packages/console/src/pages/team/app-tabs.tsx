import type { App } from '@tenon/protocol';
import { type Tab, Tabs } from '../../components/tabs.tsx';

/** The parts of an application, for whatever one is in it: member, guest or both. */
export function AppTabs({ app }: { readonly app: App }) {
  const base = `/apps/${app.id}`;
  const team: readonly Tab[] = [
    { label: 'Overview', to: base },
    { label: 'Extension points', to: `${base}/extension-points` },
    { label: 'Guests', to: `${base}/guests` },
    { label: 'Team', to: `${base}/members` },
  ];
  const guest: readonly Tab[] = [{ label: 'My plugins', to: `${base}/plugins` }];
  return (
    <Tabs
      label={`Parts of ${app.name}`}
      tabs={[...(app.role === 'guest' ? [] : team), ...(app.guestIds.length === 0 ? [] : guest)]}
    />
  );
}

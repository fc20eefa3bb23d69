import type { App } from '@tenon/protocol';
import { LinkButton } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import type { Option } from '../../components/field.tsx';
import { Section } from '../../components/page.tsx';
import { AppFrame } from './app-frame.tsx';
import { PluginTable } from './plugin-table.tsx';
import { useApp } from './use-app.ts';
import { useOverview } from './use-overview.ts';

/** An application's plugins of all extension points. */
export function AppPluginsPage() {
  const { appId, app } = useApp();
  const overview = useOverview(appId);
  const points = overview.status === 'ready' ? overview.data.firstExtensionPoints : [];
  return (
    <AppFrame
      app={app}
      part="Plugins"
      approvals={overview.status === 'ready' ? overview.data.awaitingApproval : 'loading'}
    >
      {(data) => <Plugins app={data} points={points.map(({ id, name }) => ({ value: id, label: name }))} />}
    </AppFrame>
  );
}

function Plugins({ app, points }: { readonly app: App; readonly points: readonly Option[] }) {
  return (
    <Section title="Plugins">
      <PluginTable
        appId={app.id}
        points={points}
        empty={
          <EmptyState
            title="No plugins yet"
            action={<LinkButton to={`/apps/${app.id}/guests`}>View guests</LinkButton>}
          >
            <p>Guests publish plugins for {app.name}. Invite one to get the first plugin.</p>
          </EmptyState>
        }
      />
    </Section>
  );
}

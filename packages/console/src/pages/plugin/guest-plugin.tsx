import type { ExtensionPoint } from '@tenon/protocol';
import { useRoute } from 'preact-iso/router';
import { hasCode } from '../../api/api-error.ts';
import { LinkButton } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { Page } from '../../components/page.tsx';
import { Skeleton } from '../../components/spinner.tsx';
import { useAccount, useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { AppError } from '../app-error.tsx';
import { GuestOnly } from '../guest/guest-frame.tsx';
import { guestNames } from '../guest/guest-names.ts';
import { useApp } from '../team/use-app.ts';
import { PluginBody } from './plugin-body.tsx';
import { pluginApiPath } from './plugin-path.ts';
import { usePlugin } from './use-plugin.ts';

/** A plugin for its publisher, without guest keys. */
export function GuestPluginPage() {
  const api = useApi();
  const { id: userId } = useAccount();
  const { appId, app } = useApp();
  const { extensionPointId = '', name = '' } = useRoute().params;
  const pointPath = `/api/v1/extension-points/${encodeURIComponent(extensionPointId)}`;
  const point = useCachedData(pointPath, (signal) => api.get<ExtensionPoint>(pointPath, { signal }));
  const apiPath = pluginApiPath(extensionPointId, userId, name);
  const plugin = usePlugin(apiPath);

  if (app.status === 'failed') return <AppError error={app.error} onRetry={app.reload} />;
  const appName = app.status === 'ready' ? app.data.name : 'Application';
  const listPath = `/apps/${appId}/my-plugins/${extensionPointId}`;
  const crumbs = [
    { label: 'Applications', to: '/' },
    { label: appName, to: `/apps/${appId}/my-plugins` },
    { label: point.status === 'ready' ? point.data.name : 'Extension point', to: listPath },
  ];
  if (plugin.status === 'failed' && hasCode(plugin.error, 'not_found')) {
    return (
      <Page title="Plugin not found" crumbs={crumbs}>
        <EmptyState title="No such plugin" action={<LinkButton to={listPath}>Publish one</LinkButton>}>
          <p>The link may be wrong, or the plugin was deleted by you or by the team of {appName}.</p>
        </EmptyState>
      </Page>
    );
  }
  return (
    <Page title={name} windowTitle={`${name} · ${appName}`} crumbs={crumbs}>
      {plugin.status === 'failed' ? (
        <ErrorView error={plugin.error} onRetry={plugin.reload} />
      ) : app.status === 'ready' && plugin.status === 'ready' ? (
        <GuestOnly app={app.data}>
          <PluginBody
            app={app.data}
            data={plugin.data}
            apiPath={apiPath}
            guests={guestNames(app.data)}
            listPath={listPath}
            onChanged={plugin.reload}
            onOlderVersions={plugin.loadOlderVersions}
          />
        </GuestOnly>
      ) : (
        <Skeleton lines={6} />
      )}
    </Page>
  );
}

import type { ExtensionPoint } from '@tenon/protocol';
import { useRoute } from 'preact-iso/router';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { AppPageFrame } from '../team/app-frame.tsx';
import { useApp } from '../team/use-app.ts';
import { useExtensionPointPath } from '../team/use-extension-point.ts';
import { PluginBody } from './plugin-body.tsx';
import { pluginApiPath } from './plugin-path.ts';
import { usePlugin } from './use-plugin.ts';

/** A plugin for the application's team. */
export function TeamPluginPage() {
  const api = useApi();
  const { appId, app } = useApp();
  const { extensionPointId = '', userId = '', name = '' } = useRoute().params;
  const { apiPath: pointPath, pagePath } = useExtensionPointPath();
  const point = useCachedData(pointPath, (signal) => api.get<ExtensionPoint>(pointPath, { signal }));
  const apiPath = pluginApiPath(extensionPointId, userId, name);
  const plugin = usePlugin(apiPath);
  return (
    <AppPageFrame
      app={app}
      part={{ label: point.status === 'ready' ? point.data.name : 'Extension point', to: pagePath }}
      kind="Plugin"
      thing={plugin}
      titleOf={(data) => data.plugin.name}
    >
      {(data, appData) => (
        <PluginBody
          app={appData}
          data={data}
          apiPath={apiPath}
          guests={new Map(data.plugin.status.bindings.map(({ guestId, guestKey = guestId }) => [guestId, guestKey]))}
          guestPath={(guestId) => `/apps/${appId}/guests/${guestId}`}
          publisher={data.plugin.userName}
          listPath={pagePath}
          onChanged={plugin.reload}
          onOlderVersions={plugin.loadOlderVersions}
        />
      )}
    </AppPageFrame>
  );
}

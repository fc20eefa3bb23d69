import type { ListPage, Plugin, Version } from '@tenon/protocol';
import type { ApiClient } from '../../api/client.ts';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import type { Data } from '../../state/use-data.ts';

/** A plugin with its newest versions, the newest first. */
export interface PluginData {
  readonly plugin: Plugin;
  readonly versions: readonly Version[];
  /** The cursor of older versions; `undefined` if there are none. */
  readonly olderCursor: string | undefined;
}

const versionsAtOnce = 50;

export function usePlugin(apiPath: string): Data<PluginData> & { loadOlderVersions(): Promise<void> } {
  const api = useApi();
  const plugin = useCachedData(apiPath, (signal) => fetchPlugin(api, apiPath, signal));
  const cursor = plugin.status === 'ready' ? plugin.data.olderCursor : undefined;
  return {
    ...plugin,
    async loadOlderVersions() {
      const older = await fetchVersions(api, apiPath, cursor);
      plugin.update((data) => ({
        ...data,
        versions: [...data.versions, ...older.objects],
        olderCursor: older.nextCursor,
      }));
    },
  };
}

async function fetchPlugin(api: ApiClient, path: string, signal: AbortSignal): Promise<PluginData> {
  const [plugin, versions] = await Promise.all([
    api.get<Plugin>(path, { signal }),
    fetchVersions(api, path, undefined, signal),
  ]);
  return { plugin, versions: versions.objects, olderCursor: versions.nextCursor };
}

function fetchVersions(api: ApiClient, path: string, cursor: string | undefined, signal?: AbortSignal) {
  return api.get<ListPage<Version>>(`${path}/versions`, { query: { limit: versionsAtOnce, cursor }, signal });
}

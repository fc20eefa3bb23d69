import type { Guest, Plugin, Version } from '@tenon/protocol';
import type { ApiClient } from '../../api/client.ts';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import type { Data } from '../../state/use-data.ts';

/** A plugin with its whole history, the newest version first. */
export interface PluginData {
  readonly plugin: Plugin;
  readonly versions: readonly Version[];
}

export interface TeamPluginData extends PluginData {
  readonly guests: readonly Guest[];
}

export function usePlugin(apiPath: string): Data<PluginData> {
  const api = useApi();
  return useCachedData(apiPath, (signal) => fetchPlugin(api, apiPath, signal));
}

/** A plugin for the team, with the application's guests. */
export function useTeamPlugin(apiPath: string, appId: string): Data<TeamPluginData> {
  const api = useApi();
  return useCachedData(`team ${apiPath}`, (signal) => fetchTeamPlugin(api, apiPath, appId, signal));
}

async function fetchTeamPlugin(
  api: ApiClient,
  apiPath: string,
  appId: string,
  signal: AbortSignal,
): Promise<TeamPluginData> {
  const [data, guests] = await Promise.all([
    fetchPlugin(api, apiPath, signal),
    api.list<Guest>(`/api/v1/apps/${encodeURIComponent(appId)}/guests`, { signal }),
  ]);
  return { ...data, guests };
}

async function fetchPlugin(api: ApiClient, path: string, signal: AbortSignal): Promise<PluginData> {
  const [plugin, versions] = await Promise.all([
    api.get<Plugin>(path, { signal }),
    api.list<Version>(`${path}/versions`, { signal }),
  ]);
  return { plugin, versions };
}

import type { ListPage, Plugin, Version } from '@tenon/protocol';
import { maxPageLimit } from '@tenon/protocol/list-limits';
import { useRef } from 'preact/hooks';
import type { ApiClient } from '../../api/client.ts';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import type { Data } from '../../state/use-data.ts';
import { maxPluginGuests } from './plugin-path.ts';

/** A plugin with its newest versions, the newest first. */
export interface PluginData {
  readonly plugin: Plugin;
  readonly versions: readonly Version[];
  /** The cursor of older versions; `undefined` without older versions. */
  readonly olderCursor: string | undefined;
}

const versionsAtOnce = 50;
const maxGuests = maxPluginGuests;

export function usePlugin(apiPath: string): Data<PluginData> & { loadOlderVersions(): Promise<void> } {
  const api = useApi();
  // A refetch keeps the older versions that the user has loaded.
  const shown = useRef(versionsAtOnce);
  const plugin = useCachedData(apiPath, (signal) => fetchPlugin(api, apiPath, shown.current, signal));
  if (plugin.status === 'ready') {
    shown.current = Math.min(Math.max(plugin.data.versions.length, versionsAtOnce), maxPageLimit);
  }
  const cursor = plugin.status === 'ready' ? plugin.data.olderCursor : undefined;
  return {
    ...plugin,
    async loadOlderVersions() {
      const older = await fetchVersions(api, apiPath, { limit: versionsAtOnce, cursor });
      plugin.update((data) => ({
        ...data,
        versions: [...data.versions, ...older.objects],
        olderCursor: older.nextCursor,
      }));
    },
  };
}

async function fetchPlugin(api: ApiClient, path: string, limit: number, signal: AbortSignal): Promise<PluginData> {
  const [plugin, versions] = await Promise.all([
    api.get<Plugin>(path, { query: { maxGuests }, signal }),
    fetchVersions(api, path, { limit }, signal),
  ]);
  return { plugin, versions: versions.objects, olderCursor: versions.nextCursor };
}

interface VersionQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

function fetchVersions(api: ApiClient, path: string, query: VersionQuery, signal?: AbortSignal) {
  return api.get<ListPage<Version>>(`${path}/versions`, { query: { ...query, maxGuests }, signal });
}

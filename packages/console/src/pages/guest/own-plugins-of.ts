import type { Plugin } from '@tenon/protocol';
import type { ApiClient } from '../../api/client.ts';

/** One's own plugins at an extension point, by name. Members of the team are answered everybody's, so the others are left out. */
export async function ownPluginsOf(
  api: ApiClient,
  extensionPointId: string,
  userId: string,
  signal: AbortSignal,
): Promise<Plugin[]> {
  const path = `/api/v1/extension-points/${encodeURIComponent(extensionPointId)}/plugins`;
  const plugins = await api.list<Plugin>(path, { signal });
  return plugins.filter((plugin) => plugin.userId === userId).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

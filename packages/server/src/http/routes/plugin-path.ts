import type { PluginTarget } from '../../domain/plugins.ts';

/** The path of a plugin, and the prefix of the paths of its versions and actions. */
export const artifactPath = '/api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName';

export function pluginTarget(params: { readonly userId: string; readonly pluginName: string }): PluginTarget {
  return { userId: params.userId, name: params.pluginName };
}

/** Returns a plugin's path in the API. */
export function pluginApiPath(extensionPointId: string, userId: string, name: string): string {
  return `/api/v1/artifacts/${[extensionPointId, 'plugin', userId, name].map(encodeURIComponent).join('/')}`;
}

/** Returns the path of the team's page of a plugin, from its id `<extension_point_id>/plugin/<user_id>/<plugin_name>`. */
export function teamPluginPath(appId: string, pluginId: string): string {
  const [extensionPointId, , userId, name] = pluginId.split('/');
  return `/apps/${appId}/extension-points/${extensionPointId}/plugins/${userId}/${name}`;
}

/** The most guests that a plugin and each of its versions name on the plugin's page. */
export const maxPluginGuests = 20;

import type { AppId, ExtensionPointId } from '@tenon/protocol';
import { sql } from 'kysely';
import { areOfSamePlugin, type Db } from '../db/db.ts';
import { naturalKey } from '../db/natural-key.ts';
import { contains, countMatches, cursorOfValues, equals, type Orders, sorted } from '../db/page-queries.ts';
import type { AppPlugin, PluginScope, PluginSearch, PluginSort, SortedPage } from '../db/query-types.ts';
import type { PluginRecord } from '../db/records.ts';
import { pluginsWithNewestVersion, toRecord } from './plugin-queries.ts';

// An index has an application's plugins by name. The other orders have none: quotas bound the number of plugins that are sorted.
const pluginOrders: Orders<PluginSort> = {
  name: [
    sql.ref('plugins.sortKey'),
    sql.ref('plugins.extensionPointId'),
    sql.ref('plugins.userId'),
    sql.ref('plugins.name'),
  ],
  publishedAt: [sql.ref('versions.id')],
};

/** The cursor of a plugin in one of the orders of the list. */
export function pluginCursor(plugin: PluginRecord, sort: PluginSort = 'name'): string {
  const { extensionPointId, userId, name, newest } = plugin;
  return sort.endsWith('name') ? cursorOfValues(naturalKey(name), extensionPointId, userId, name) : newest.id;
}

function pluginsFound(db: Db, scope: PluginScope, search: PluginSearch) {
  const { extensionPointId, userId, name, text, searchesGuestKeys, state, isBound } = search;
  let plugins = pluginsWithNewestVersion(db);
  if ('appId' in scope) {
    plugins = plugins
      .where('plugins.appId', '=', scope.appId)
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom('extension_points')
            .select('extension_points.id')
            .whereRef('extension_points.id', '=', 'plugins.extensionPointId')
            .where('extension_points.deletedAtMs', 'is', null),
        ),
      );
  }
  if ('extensionPointId' in scope) plugins = plugins.where('plugins.extensionPointId', '=', scope.extensionPointId);
  if (extensionPointId !== undefined) plugins = plugins.where('plugins.extensionPointId', '=', extensionPointId);
  if (userId !== undefined) plugins = plugins.where('plugins.userId', '=', userId);
  if (name !== undefined) plugins = plugins.where('plugins.name', '=', name);
  if (state !== undefined) {
    plugins = plugins.where((eb) => {
      const isBlocked = eb.or([eb('plugins.block', 'is not', null), eb('blocked_publishers.block', 'is not', null)]);
      return state === 'blocked' ? isBlocked : eb.not(isBlocked);
    });
    if (state !== 'blocked') plugins = plugins.where('versions.state', '=', state);
  }
  if (isBound !== undefined) {
    plugins = plugins.where((eb) => {
      const bound = eb.exists(
        eb
          .selectFrom('bindings')
          .select('bindings.name')
          .where(areOfSamePlugin('bindings', 'plugins'))
          .where('bindings.versionId', 'is not', null),
      );
      return isBound ? bound : eb.not(bound);
    });
  }
  if (text === undefined) return plugins;
  return plugins.where((eb) =>
    eb.or([
      contains('plugins.name', text),
      equals('versions.contentAddress', text),
      eb.exists(
        eb
          .selectFrom('users')
          .select('users.id')
          .whereRef('users.id', '=', 'plugins.userId')
          .where((of) => of.or([contains('users.name', text), equals('users.id', text)])),
      ),
      ...(searchesGuestKeys
        ? [
            eb(
              eb.refTuple('plugins.extensionPointId', 'plugins.userId', 'plugins.name'),
              'in',
              ofGuestKey(db, scope, text) as never,
            ),
          ]
        : []),
    ]),
  );
}

/** The keys of the plugins with a binding under a guest whose key contains a text. */
function ofGuestKey(db: Db, scope: PluginScope, text: string) {
  const bindings = db
    .selectFrom('extension_points')
    .innerJoin('guests', 'guests.appId', 'extension_points.appId')
    .innerJoin('bindings', (join) =>
      join.onRef('bindings.extensionPointId', '=', 'extension_points.id').onRef('bindings.guestId', '=', 'guests.id'),
    )
    .select(['bindings.extensionPointId', 'bindings.userId', 'bindings.name'])
    .where(contains('guests.guestKey', text));
  if ('appId' in scope) return bindings.where('extension_points.appId', '=', scope.appId);
  return bindings.where('extension_points.id', '=', scope.extensionPointId);
}

export const pluginListQueries = {
  /** Returns an extension point's plugins. */
  async plugins(
    db: Db,
    extensionPointId: ExtensionPointId,
    page: SortedPage<PluginSort>,
    search: PluginSearch = {},
  ): Promise<PluginRecord[]> {
    const plugins = sorted(pluginsFound(db, { extensionPointId }, search), pluginOrders, page, 'name');
    return (await plugins.execute()).map(toRecord);
  },

  /** Returns an application's plugins of all extension points. */
  async pluginsOfApp(
    db: Db,
    appId: AppId,
    page: SortedPage<PluginSort>,
    search: PluginSearch = {},
  ): Promise<AppPlugin[]> {
    const plugins = pluginsFound(db, { appId }, search)
      .innerJoin('extension_points', 'extension_points.id', 'plugins.extensionPointId')
      .select('extension_points.name as extensionPointName');
    const rows = await sorted(plugins, pluginOrders, page, 'name').execute();
    return rows.map(({ extensionPointName, ...row }) => ({ ...toRecord(row), extensionPointName }));
  },

  countPluginsFound: (db: Db, scope: PluginScope, search: PluginSearch): Promise<number> =>
    countMatches(db, pluginsFound(db, scope, search)),
};

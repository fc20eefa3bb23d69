import type { AppId, ExtensionPointId } from '@tenon/protocol';
import type { BindingFilter, ChangedList, ChangedPlugin } from './change-records.ts';
import { type Db, pluginBindings } from './db.ts';
import { setOf } from './page-queries.ts';
import type { PluginKey } from './records.ts';

/** Collects the binding lists, and the plugins with other attestations, that a transaction changes, each once. */
export class ListChanges {
  readonly #lists = new Map<string, ChangedList>();
  readonly #plugins = new Map<string, ChangedPlugin>();
  readonly #resets = new Set<AppId>();
  /** The applications of extension points, because a transaction may move bindings of many plugins. */
  readonly #apps = new Map<ExtensionPointId, AppId>();

  get lists(): readonly ChangedList[] {
    return [...this.#lists.values()];
  }

  get plugins(): readonly ChangedPlugin[] {
    return [...this.#plugins.values()];
  }

  /** The applications whose hosts have to read all lists again. */
  get resets(): ReadonlySet<AppId> {
    return this.#resets;
  }

  async addLists(db: Db, extensionPointId: ExtensionPointId, guestKeys: readonly string[]): Promise<void> {
    const appId = this.#apps.get(extensionPointId) ?? (await appOf(db, extensionPointId));
    if (appId === undefined) return;
    this.#apps.set(extensionPointId, appId);
    for (const guestKey of guestKeys) this.#add({ appId, extensionPointId, guestKey });
  }

  async addPlugin(db: Db, { extensionPointId, userId, name: pluginName }: PluginKey): Promise<void> {
    const appId = await appOf(db, extensionPointId);
    if (appId === undefined) return;
    const plugin = { appId, extensionPointId, userId, pluginName };
    this.#plugins.set(JSON.stringify([extensionPointId, userId, pluginName]), plugin);
  }

  /** Adds the lists in which these bindings bind a version. */
  async addBound(db: Db, of: BindingFilter): Promise<void> {
    for (const list of await boundLists(db, of)) this.#add(list);
  }

  /** Adds all lists of an extension point that is deleted, as one change. */
  async addDeleted(db: Db, extensionPointId: ExtensionPointId): Promise<void> {
    const appId = await appOf(db, extensionPointId);
    if (appId === undefined) return;
    this.#deleteWhere((change) => change.extensionPointId === extensionPointId);
    this.#apps.delete(extensionPointId);
    this.#add({ appId, extensionPointId, guestKey: null });
  }

  async reset(db: Db, extensionPointId: ExtensionPointId): Promise<void> {
    const appId = await appOf(db, extensionPointId);
    if (appId !== undefined) this.#resets.add(appId);
  }

  /** Drops the lists of an application that is deleted with its change events. */
  forget(appId: AppId): void {
    this.#deleteWhere((change) => change.appId === appId);
  }

  #add(list: ChangedList): void {
    this.#lists.set(JSON.stringify([list.extensionPointId, list.guestKey]), list);
  }

  #deleteWhere(matches: (change: ChangedList | ChangedPlugin) => boolean): void {
    for (const changes of [this.#lists, this.#plugins])
      for (const [key, change] of changes) if (matches(change)) changes.delete(key);
  }
}

/** The application of an extension point that is not deleted. */
async function appOf(db: Db, id: ExtensionPointId): Promise<AppId | undefined> {
  const row = await db
    .selectFrom('extension_points')
    .select('appId')
    .where('id', '=', id)
    .where('deletedAtMs', 'is', null)
    .executeTakeFirst();
  return row?.appId;
}

/** The lists in which some of the given bindings bind a version, each once. */
export function boundLists(
  db: Db,
  { extensionPointId, guestIds, userId, name, isDeleted }: BindingFilter,
): Promise<ChangedList[]> {
  let lists = pluginBindings(db)
    .select(['guests.appId', 'bindings.extensionPointId', 'guests.guestKey'])
    .distinct()
    .where('bindings.versionId', 'is not', null);
  if (extensionPointId !== undefined) lists = lists.where('bindings.extensionPointId', '=', extensionPointId);
  // A set of one hides from the planner that one guest has few bindings.
  const [only, ...others] = guestIds ?? [];
  if (only !== undefined && others.length === 0) lists = lists.where('bindings.guestId', '=', only);
  else if (guestIds !== undefined) lists = lists.where('bindings.guestId', 'in', setOf(guestIds));
  if (userId !== undefined) lists = lists.where('plugins.userId', '=', userId);
  if (name !== undefined) lists = lists.where('bindings.name', '=', name);
  if (isDeleted === false) lists = lists.where('plugins.deletedAtMs', 'is', null);
  return lists.execute();
}

import type { UserId } from '@tenon/protocol';
import { type Kysely, sql } from 'kysely';
import type { Database, PluginKey } from './records.ts';

/** The database, or a transaction. */
export type Db = Kysely<Database>;

/** Whether a query returns a row. */
export const hasRow = async (query: { limit(count: number): { execute(): Promise<unknown[]> } }): Promise<boolean> =>
  (await query.limit(1).execute()).length > 0;

/** The tables whose rows belong to plugins, and the aliases of `versions` in queries. */
type PluginTable =
  | ('plugins' | 'versions' | 'own' | 'bindings' | 'oci_uploads' | 'roll_outs')
  | ('reserved_semvers' | 'name_reservations');

/** Whether a table's row belongs to a plugin. */
export const isOfPlugin = (table: PluginTable, { extensionPointId, userId, name }: PluginKey) =>
  sql<boolean>`${sql.table(table)}."extensionPointId" = ${extensionPointId}
    and ${sql.table(table)}."userId" = ${userId} and ${sql.table(table)}.name = ${name}`;

/** Whether the rows of two tables belong to the same plugin. */
export const areOfSamePlugin = (one: PluginTable, other: PluginTable) =>
  sql<boolean>`${sql.table(one)}."extensionPointId" = ${sql.table(other)}."extensionPointId"
    and ${sql.table(one)}."userId" = ${sql.table(other)}."userId" and ${sql.table(one)}.name = ${sql.table(other)}.name`;

/** The applications in which a user is a member. */
export const appsOfMember = (db: Db, userId: UserId) =>
  db.selectFrom('members').select('appId').where('userId', '=', userId);

/** The applications in which a user holds a guest. */
export const appsOfGuestUser = (db: Db, userId: UserId) =>
  db
    .selectFrom('guest_users')
    .innerJoin('guests', 'guests.id', 'guest_users.guestId')
    .select('guests.appId')
    .where('guest_users.userId', '=', userId);

/** Plugins joined with their bindings and the guests of the bindings. */
export const pluginBindings = (db: Db) =>
  db
    .selectFrom('plugins')
    .innerJoin('bindings', (join) => join.on(areOfSamePlugin('bindings', 'plugins')))
    .innerJoin('guests', 'guests.id', 'bindings.guestId');

/** Encodes a parameter for the drivers: objects, for columns of type `json`, become text. */
export function encode(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

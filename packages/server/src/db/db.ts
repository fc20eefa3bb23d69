import type { UserId } from '@tenon/protocol';
import { type Kysely, sql } from 'kysely';
import type { Database, PluginKey } from './records.ts';

/** What queries run on: the database, or a transaction in it. */
export type Db = Kysely<Database>;

/** Whether a query has any row. */
export const hasRow = async (query: { limit(count: number): { execute(): Promise<unknown[]> } }): Promise<boolean> =>
  (await query.limit(1).execute()).length > 0;

/** The tables whose rows belong to plugins, and the names that queries give `versions`. */
type PluginTable = 'plugins' | 'versions' | 'own' | 'bindings' | 'retired_labels';

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

/** Plugins with their bindings and the guests of these. */
export const pluginBindings = (db: Db) =>
  db
    .selectFrom('plugins')
    .innerJoin('bindings', (join) => join.on(areOfSamePlugin('bindings', 'plugins')))
    .innerJoin('guests', 'guests.id', 'bindings.guestId');

/** A parameter as drivers take it: what goes into a column of type `json` becomes text. */
export function encode(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

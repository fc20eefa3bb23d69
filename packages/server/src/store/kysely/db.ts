import type { Kysely } from 'kysely';
import type { Database } from '../../domain/records.ts';

/** What queries run on: the database, or a transaction in it. */
export type Db = Kysely<Database>;

/** Plugins with their bindings and the guests of these. */
export const pluginBindings = (db: Db) =>
  db
    .selectFrom('plugins')
    .innerJoin('bindings', (join) =>
      join
        .onRef('bindings.extensionPointId', '=', 'plugins.extensionPointId')
        .onRef('bindings.userId', '=', 'plugins.userId')
        .onRef('bindings.name', '=', 'plugins.name'),
    )
    .innerJoin('guests', 'guests.id', 'bindings.guestId');

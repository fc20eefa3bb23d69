import { sql } from 'kysely';
import type { ColumnTypes } from '../kysely/migrate.ts';

/** Compared byte by byte, whatever locale the database was made with, so that lists are in the same order everywhere. */
export const columnTypes: ColumnTypes = {
  text: sql`text collate "C"`,
  bigint: sql`bigint`,
  boolean: sql`boolean`,
  json: sql`json`,
};

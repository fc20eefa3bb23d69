import { sql } from 'kysely';
import type { ColumnTypes } from '../kysely/migrate.ts';

/** SQLite's `text` compares bytes, and its integers have 64 bits: https://www.sqlite.org/datatype3.html. `connection.ts` converts the others. */
export const columnTypes: ColumnTypes = {
  text: sql`text`,
  bigint: sql`integer`,
  boolean: sql`boolean`,
  json: sql`json`,
};

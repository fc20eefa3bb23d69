import { sql } from 'kysely';
import type { ColumnTypes } from '../kysely/migrate.ts';

/** SQLite's `text` compares bytes, and its integers have 64 bits: https://www.sqlite.org/datatype3.html */
export const columnTypes: ColumnTypes = { text: sql`text`, bigint: sql`integer` };

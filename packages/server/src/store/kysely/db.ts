import type { Kysely } from 'kysely';
import type { Database } from '../../domain/records.ts';

/** What queries run on: the database, or a transaction in it. */
export type Db = Kysely<Database>;

import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Database } from '../../src/db/records.ts';

/** A database that stores nothing. @param answer the rows of a query; by default none */
export function dummyDatabase(answer: (query: CompiledQuery) => readonly unknown[] = () => []): Kysely<Database> {
  class Driver extends DummyDriver {
    override async acquireConnection() {
      const connection = await super.acquireConnection();
      return Object.assign(connection, {
        executeQuery: async (query: CompiledQuery) => ({ rows: answer(query) as never[], numAffectedRows: 0n }),
      });
    }
  }
  return new Kysely<Database>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new Driver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
}

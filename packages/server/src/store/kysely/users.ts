import type { Mutations, Queries } from '../../domain/ports.ts';
import type { Db } from './schema.ts';

export function userQueries(db: Db): Pick<Queries, 'user' | 'anyUser'> {
  return {
    user: (id) =>
      db
        .selectFrom('users')
        .select(['id', 'name', 'email', 'created_at_ms as createdAtMs'])
        .where('id', '=', id)
        .executeTakeFirst(),
    anyUser: async () => (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined,
  };
}

export function userMutations(db: Db): Pick<Mutations, 'insertUser'> {
  return {
    async insertUser({ id, name, email, createdAtMs }) {
      await db.insertInto('users').values({ id, name, email, created_at_ms: createdAtMs }).execute();
    },
  };
}

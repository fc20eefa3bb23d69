import type { Mutations, Queries } from '../../domain/ports.ts';
import type { Db } from './schema.ts';

const columns = [
  'id',
  'user_id as userId',
  'kind',
  'subject',
  'secret',
  'created_at_ms as createdAtMs',
  'updated_at_ms as updatedAtMs',
] as const;

export function identityQueries(db: Db): Pick<Queries, 'identity' | 'identitiesOf'> {
  const identities = db.selectFrom('identities').select(columns);
  return {
    identity: (kind, subject) => identities.where('kind', '=', kind).where('subject', '=', subject).executeTakeFirst(),
    identitiesOf: (userId) => identities.where('user_id', '=', userId).orderBy('id').execute(),
  };
}

export function identityMutations(db: Db): Pick<Mutations, 'insertIdentity' | 'updateIdentity'> {
  return {
    async insertIdentity({ id, userId, kind, subject, secret, createdAtMs, updatedAtMs }) {
      await db
        .insertInto('identities')
        .values({ id, user_id: userId, kind, subject, secret, created_at_ms: createdAtMs, updated_at_ms: updatedAtMs })
        .execute();
    },
    async updateIdentity(id, { secret, updatedAtMs }) {
      await db.updateTable('identities').set({ secret, updated_at_ms: updatedAtMs }).where('id', '=', id).execute();
    },
  };
}

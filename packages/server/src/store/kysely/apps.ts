import type { Mutations, Queries } from '../../domain/ports.ts';
import { paged } from './paging.ts';
import type { Db } from './schema.ts';

const appColumns = ['id', 'name', 'created_at_ms as createdAtMs', 'updated_at_ms as updatedAtMs'] as const;

export function appQueries(
  db: Db,
): Pick<Queries, 'app' | 'appsOf' | 'member' | 'members' | 'countOwners' | 'isMemberOfAny' | 'appsOwnedAlone'> {
  return {
    app: (id) =>
      db
        .selectFrom('apps')
        .select(appColumns)
        .where('id', '=', id)
        .where('deleted_at_ms', 'is', null)
        .executeTakeFirst(),
    appsOf(userId, appId, page) {
      const asMember = db.selectFrom('members').select('app_id').where('user_id', '=', userId);
      const asGuest = db
        .selectFrom('guest_users')
        .innerJoin('guests', 'guests.id', 'guest_users.guest_id')
        .select('guests.app_id')
        .where('guest_users.user_id', '=', userId);
      let apps = db
        .selectFrom('apps')
        .select(appColumns)
        .where('id', 'in', asMember.union(asGuest))
        .where('deleted_at_ms', 'is', null);
      if (appId !== undefined) apps = apps.where('id', '=', appId);
      return paged(apps, 'id', page).execute();
    },
    member: (appId, userId) =>
      db
        .selectFrom('members')
        .select(['app_id as appId', 'user_id as userId', 'role', 'created_at_ms as createdAtMs'])
        .where('app_id', '=', appId)
        .where('user_id', '=', userId)
        .executeTakeFirst(),
    members(appId, page) {
      const members = db
        .selectFrom('members')
        .innerJoin('users', 'users.id', 'members.user_id')
        .select([
          'members.app_id as appId',
          'members.user_id as userId',
          'members.role',
          'members.created_at_ms as createdAtMs',
          'users.name as userName',
        ])
        .where('members.app_id', '=', appId);
      return paged(members, 'members.user_id', page).execute();
    },
    async countOwners(appId) {
      const { count } = await db
        .selectFrom('members')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('app_id', '=', appId)
        .where('role', '=', 'owner')
        .executeTakeFirstOrThrow();
      return count;
    },
    async isMemberOfAny(userId) {
      const found = await db.selectFrom('members').select('app_id').where('user_id', '=', userId).limit(1).execute();
      return found.length > 0;
    },
    appsOwnedAlone(userId) {
      const owned = db.selectFrom('members').select('app_id').where('user_id', '=', userId).where('role', '=', 'owner');
      return db
        .selectFrom('apps')
        .select(appColumns)
        .where('id', 'in', owned)
        .where('deleted_at_ms', 'is', null)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('members')
                .select('members.app_id')
                .whereRef('members.app_id', '=', 'apps.id')
                .where('members.role', '=', 'owner')
                .where('members.user_id', '!=', userId),
            ),
          ),
        )
        .orderBy('id')
        .execute();
    },
  };
}

export function appMutations(
  db: Db,
): Pick<Mutations, 'insertApp' | 'updateApp' | 'deleteApp' | 'putMember' | 'deleteMember'> {
  return {
    async insertApp({ id, name, createdAtMs, updatedAtMs }) {
      await db
        .insertInto('apps')
        .values({ id, name, created_at_ms: createdAtMs, updated_at_ms: updatedAtMs })
        .execute();
    },
    async updateApp(id, { name, updatedAtMs }) {
      await db.updateTable('apps').set({ name, updated_at_ms: updatedAtMs }).where('id', '=', id).execute();
    },
    async deleteApp(id) {
      await db
        .updateTable('audit_events')
        .set({ guest_keys_json: null })
        .where('app_id', '=', id)
        .where('guest_keys_json', 'is not', null)
        .execute();
      await db.deleteFrom('apps').where('id', '=', id).execute();
    },
    async putMember({ appId, userId, role, createdAtMs }) {
      await db
        .insertInto('members')
        .values({ app_id: appId, user_id: userId, role, created_at_ms: createdAtMs })
        .onConflict((conflict) => conflict.columns(['app_id', 'user_id']).doUpdateSet({ role }))
        .execute();
    },
    async deleteMember(appId, userId) {
      await db.deleteFrom('members').where('app_id', '=', appId).where('user_id', '=', userId).execute();
    },
  };
}

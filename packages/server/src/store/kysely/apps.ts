import type { Mutations, Queries } from '../../domain/ports.ts';
import { columns } from '../../domain/records.ts';
import type { Db } from './db.ts';
import { paged } from './paging.ts';

export function appQueries(
  db: Db,
): Pick<Queries, 'app' | 'appsOf' | 'member' | 'members' | 'countOwners' | 'isMemberOfAny' | 'appsOwnedAlone'> {
  return {
    app: (id) =>
      db
        .selectFrom('apps')
        .select(columns.apps)
        .where('id', '=', id)
        .where('deletedAtMs', 'is', null)
        .executeTakeFirst(),
    appsOf(userId, appId, page) {
      const asMember = db.selectFrom('members').select('appId').where('userId', '=', userId);
      const asGuest = db
        .selectFrom('guest_users')
        .innerJoin('guests', 'guests.id', 'guest_users.guestId')
        .select('guests.appId')
        .where('guest_users.userId', '=', userId);
      let apps = db
        .selectFrom('apps')
        .select(columns.apps)
        .where('id', 'in', asMember.union(asGuest))
        .where('deletedAtMs', 'is', null);
      if (appId !== undefined) apps = apps.where('id', '=', appId);
      return paged(apps, 'id', page).execute();
    },
    member: (appId, userId) =>
      db
        .selectFrom('members')
        .select(columns.members)
        .where('appId', '=', appId)
        .where('userId', '=', userId)
        .executeTakeFirst(),
    members(appId, page) {
      const members = db
        .selectFrom('members')
        .innerJoin('users', 'users.id', 'members.userId')
        .select(columns.members)
        .select('users.name as userName')
        .where('members.appId', '=', appId);
      return paged(members, 'members.userId', page).execute();
    },
    async countOwners(appId) {
      const { count } = await db
        .selectFrom('members')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('appId', '=', appId)
        .where('role', '=', 'owner')
        .executeTakeFirstOrThrow();
      return count;
    },
    async isMemberOfAny(userId) {
      const found = await db.selectFrom('members').select('appId').where('userId', '=', userId).limit(1).execute();
      return found.length > 0;
    },
    appsOwnedAlone(userId) {
      const owned = db.selectFrom('members').select('appId').where('userId', '=', userId).where('role', '=', 'owner');
      return db
        .selectFrom('apps')
        .select(columns.apps)
        .where('id', 'in', owned)
        .where('deletedAtMs', 'is', null)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('members')
                .select('members.appId')
                .whereRef('members.appId', '=', 'apps.id')
                .where('members.role', '=', 'owner')
                .where('members.userId', '!=', userId),
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
    async insertApp(app) {
      await db.insertInto('apps').values(app).execute();
    },
    async updateApp(id, { name, updatedAtMs }) {
      await db.updateTable('apps').set({ name, updatedAtMs }).where('id', '=', id).execute();
    },
    async deleteApp(id) {
      await db
        .updateTable('audit_events')
        .set({ guestKeys: null })
        .where('appId', '=', id)
        .where('guestKeys', 'is not', null)
        .execute();
      await db.deleteFrom('apps').where('id', '=', id).execute();
    },
    async putMember(member) {
      await db
        .insertInto('members')
        .values(member)
        .onConflict((conflict) => conflict.columns(['appId', 'userId']).doUpdateSet({ role: member.role }))
        .execute();
    },
    async deleteMember(appId, userId) {
      await db.deleteFrom('members').where('appId', '=', appId).where('userId', '=', userId).execute();
    },
  };
}

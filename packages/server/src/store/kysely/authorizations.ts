import type { Mutations, Queries } from '../../domain/ports.ts';
import { columns } from '../../domain/records.ts';
import type { Db } from './db.ts';

export function authorizationQueries(
  db: Db,
): Pick<Queries, 'authorizationCodeByHash' | 'deviceGrantByDeviceCode' | 'deviceGrantByUserCode'> {
  const deviceGrants = db.selectFrom('device_grants').select(columns.deviceGrants);
  return {
    authorizationCodeByHash: (codeHash) =>
      db
        .selectFrom('authorization_codes')
        .select(columns.authorizationCodes)
        .where('codeHash', '=', codeHash)
        .executeTakeFirst(),
    deviceGrantByDeviceCode: (deviceCodeHash) =>
      deviceGrants.where('deviceCodeHash', '=', deviceCodeHash).executeTakeFirst(),
    deviceGrantByUserCode: (userCodeHash) => deviceGrants.where('userCodeHash', '=', userCodeHash).executeTakeFirst(),
  };
}

export function authorizationMutations(
  db: Db,
): Pick<
  Mutations,
  | 'insertAuthorizationCode'
  | 'useAuthorizationCode'
  | 'insertDeviceGrant'
  | 'settleDeviceGrant'
  | 'deleteDeviceGrant'
  | 'deletePendingLoginsOf'
> {
  return {
    async insertAuthorizationCode(code) {
      await db.insertInto('authorization_codes').values(code).execute();
    },
    async useAuthorizationCode(codeHash, { tokenId, usedAtMs }) {
      await db
        .updateTable('authorization_codes')
        .set({ tokenId, usedAtMs })
        .where('codeHash', '=', codeHash)
        .where('usedAtMs', 'is', null)
        .execute();
    },
    async insertDeviceGrant(grant) {
      await db.insertInto('device_grants').values(grant).execute();
    },
    async settleDeviceGrant(id, outcome) {
      await db.updateTable('device_grants').set(outcome).where('id', '=', id).where('status', '=', 'pending').execute();
    },
    async deleteDeviceGrant(id) {
      await db.deleteFrom('device_grants').where('id', '=', id).execute();
    },
    async deletePendingLoginsOf(userId) {
      await db.deleteFrom('authorization_codes').where('userId', '=', userId).where('usedAtMs', 'is', null).execute();
      await db.deleteFrom('device_grants').where('userId', '=', userId).execute();
    },
  };
}

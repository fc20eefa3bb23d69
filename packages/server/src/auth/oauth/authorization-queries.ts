import type { DeviceGrantId, SessionId, TokenId, TokenScope, UserId } from '@tenon/protocol';
import type { Db } from '../../db/db.ts';
import { mutation, nothing, statement } from '../../db/mutation.ts';
import { paged } from '../../db/page-queries.ts';
import type { Page } from '../../db/query-types.ts';
import { type AuthorizationCodeRecord, columns, type DeviceGrantRecord } from '../../db/records.ts';

const deviceGrants = (db: Db) => db.selectFrom('device_grants').select(columns.deviceGrants);

export const authorizationQueries = {
  authorizationCodeByHash: (db: Db, codeHash: string): Promise<AuthorizationCodeRecord | undefined> =>
    db
      .selectFrom('authorization_codes')
      .select(columns.authorizationCodes)
      .where('codeHash', '=', codeHash)
      .executeTakeFirst(),

  deviceGrantByDeviceCode: (db: Db, deviceCodeHash: string): Promise<DeviceGrantRecord | undefined> =>
    deviceGrants(db).where('deviceCodeHash', '=', deviceCodeHash).executeTakeFirst(),

  deviceGrant: (db: Db, id: DeviceGrantId): Promise<DeviceGrantRecord | undefined> =>
    deviceGrants(db).where('id', '=', id).executeTakeFirst(),

  /** The grants that a user approved, including expired ones. */
  approvedDeviceGrants: (db: Db, userId: UserId, page: Page): Promise<DeviceGrantRecord[]> =>
    paged(deviceGrants(db).where('userId', '=', userId), 'id', page).execute(),

  deviceGrantByUserCode: (db: Db, userCodeHash: string): Promise<DeviceGrantRecord | undefined> =>
    deviceGrants(db).where('userCodeHash', '=', userCodeHash).executeTakeFirst(),
};

export const authorizationMutations = {
  insertAuthorizationCode: statement({ audit: true, invalidates: nothing }, (db: Db, code: AuthorizationCodeRecord) =>
    db.insertInto('authorization_codes').values(code),
  ),

  /** Marks a code as exchanged for a stored token, unless it was exchanged before. */
  useAuthorizationCode: statement(
    { audit: true, invalidates: nothing },
    (db: Db, codeHash: string, { tokenId, usedAtMs }: { readonly tokenId: TokenId; readonly usedAtMs: number }) =>
      db
        .updateTable('authorization_codes')
        .set({ tokenId, usedAtMs })
        .where('codeHash', '=', codeHash)
        .where('usedAtMs', 'is', null),
  ),

  /** @throws ConflictError if another grant has the same user code */
  insertDeviceGrant: statement(
    // The audit event is recorded when a user decides.
    { audit: false, invalidates: nothing },
    (db: Db, grant: DeviceGrantRecord) => db.insertInto('device_grants').values(grant),
  ),

  /** Approves or denies a grant, if it is pending. */
  decideDeviceGrant: statement(
    { audit: true, invalidates: nothing },
    (
      db: Db,
      id: DeviceGrantId,
      outcome:
        | {
            readonly status: 'approved';
            readonly userId: UserId;
            readonly sessionId: SessionId;
            readonly scopes: readonly TokenScope[];
          }
        | { readonly status: 'denied' },
    ) => db.updateTable('device_grants').set(outcome).where('id', '=', id).where('status', '=', 'pending'),
  ),

  deleteDeviceGrant: statement({ audit: true, invalidates: nothing }, (db: Db, id: DeviceGrantId) =>
    db.deleteFrom('device_grants').where('id', '=', id),
  ),

  /** Deletes the logins that a user approved and whose tokens were not fetched: unused authorization codes and device grants. */
  deletePendingLoginsOf: mutation(
    { audit: true, invalidates: nothing, usesDiskReserve: true },
    async (db: Db, userId: UserId): Promise<void> => {
      await db.deleteFrom('authorization_codes').where('userId', '=', userId).where('usedAtMs', 'is', null).execute();
      await db.deleteFrom('device_grants').where('userId', '=', userId).execute();
    },
  ),
};

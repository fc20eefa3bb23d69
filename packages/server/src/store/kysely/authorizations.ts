import type { Selectable } from 'kysely';
import type { Mutations, Queries } from '../../domain/ports.ts';
import type { AuthorizationCodeRecord, DeviceGrantRecord } from '../../domain/records.ts';
import type { Database, Db } from './schema.ts';
import { scopesOf, scopesText } from './scopes.ts';

const authorizationCodeColumns = [
  'code_hash',
  'user_id',
  'client_id',
  'redirect_uri',
  'code_challenge',
  'scopes',
  'device_name',
  'session_id',
  'created_at_ms',
  'expires_at_ms',
  'token_id',
  'used_at_ms',
] as const;

const deviceGrantColumns = [
  'id',
  'device_code_hash',
  'user_code_hash',
  'client_id',
  'scopes',
  'device_name',
  'address',
  'status',
  'user_id',
  'session_id',
  'created_at_ms',
  'expires_at_ms',
] as const;

export function authorizationQueries(
  db: Db,
): Pick<Queries, 'authorizationCodeByHash' | 'deviceGrantByDeviceCode' | 'deviceGrantByUserCode'> {
  const deviceGrants = db.selectFrom('device_grants').select(deviceGrantColumns);
  return {
    async authorizationCodeByHash(codeHash) {
      const row = await db
        .selectFrom('authorization_codes')
        .select(authorizationCodeColumns)
        .where('code_hash', '=', codeHash)
        .executeTakeFirst();
      return row && authorizationCodeRecord(row);
    },
    async deviceGrantByDeviceCode(deviceCodeHash) {
      const row = await deviceGrants.where('device_code_hash', '=', deviceCodeHash).executeTakeFirst();
      return row && deviceGrantRecord(row);
    },
    async deviceGrantByUserCode(userCodeHash) {
      const row = await deviceGrants.where('user_code_hash', '=', userCodeHash).executeTakeFirst();
      return row && deviceGrantRecord(row);
    },
  };
}

function authorizationCodeRecord(row: Selectable<Database['authorization_codes']>): AuthorizationCodeRecord {
  return {
    codeHash: row.code_hash,
    userId: row.user_id,
    clientId: row.client_id,
    redirectUri: row.redirect_uri,
    codeChallenge: row.code_challenge,
    scopes: scopesOf(row.scopes),
    deviceName: row.device_name,
    sessionId: row.session_id,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
    tokenId: row.token_id,
    usedAtMs: row.used_at_ms,
  };
}

function deviceGrantRecord(row: Selectable<Database['device_grants']>): DeviceGrantRecord {
  return {
    id: row.id,
    deviceCodeHash: row.device_code_hash,
    userCodeHash: row.user_code_hash,
    clientId: row.client_id,
    scopes: scopesOf(row.scopes),
    deviceName: row.device_name,
    address: row.address,
    status: row.status,
    userId: row.user_id,
    sessionId: row.session_id,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
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
      await db
        .insertInto('authorization_codes')
        .values({
          code_hash: code.codeHash,
          user_id: code.userId,
          client_id: code.clientId,
          redirect_uri: code.redirectUri,
          code_challenge: code.codeChallenge,
          scopes: scopesText(code.scopes),
          device_name: code.deviceName,
          session_id: code.sessionId,
          created_at_ms: code.createdAtMs,
          expires_at_ms: code.expiresAtMs,
          token_id: code.tokenId,
          used_at_ms: code.usedAtMs,
        })
        .execute();
    },
    async useAuthorizationCode(codeHash, { tokenId, usedAtMs }) {
      await db
        .updateTable('authorization_codes')
        .set({ token_id: tokenId, used_at_ms: usedAtMs })
        .where('code_hash', '=', codeHash)
        .where('used_at_ms', 'is', null)
        .execute();
    },
    async insertDeviceGrant(grant) {
      await db
        .insertInto('device_grants')
        .values({
          id: grant.id,
          device_code_hash: grant.deviceCodeHash,
          user_code_hash: grant.userCodeHash,
          client_id: grant.clientId,
          scopes: scopesText(grant.scopes),
          device_name: grant.deviceName,
          address: grant.address,
          status: grant.status,
          user_id: grant.userId,
          session_id: grant.sessionId,
          created_at_ms: grant.createdAtMs,
          expires_at_ms: grant.expiresAtMs,
        })
        .execute();
    },
    async settleDeviceGrant(id, outcome) {
      await db
        .updateTable('device_grants')
        .set(
          outcome.status === 'approved'
            ? {
                status: outcome.status,
                user_id: outcome.userId,
                session_id: outcome.sessionId,
                scopes: scopesText(outcome.scopes),
              }
            : { status: outcome.status },
        )
        .where('id', '=', id)
        .where('status', '=', 'pending')
        .execute();
    },
    async deleteDeviceGrant(id) {
      await db.deleteFrom('device_grants').where('id', '=', id).execute();
    },
    async deletePendingLoginsOf(userId) {
      await db
        .deleteFrom('authorization_codes')
        .where('user_id', '=', userId)
        .where('used_at_ms', 'is', null)
        .execute();
      await db.deleteFrom('device_grants').where('user_id', '=', userId).execute();
    },
  };
}

import type { PasskeyId, SessionId, UserId } from '@tenon/protocol';
import type { Db } from '../../db/db.ts';
import { mutation, nothing, statement } from '../../db/mutation.ts';
import type { PasskeyChallengeRecord, PasskeyRecord, PendingSignInRecord } from '../../db/passkey-records.ts';
import { columns } from '../../db/records.ts';

const passkeys = (db: Db) => db.selectFrom('passkeys').select(columns.passkeys);

export const passkeyQueries = {
  passkey: (db: Db, id: PasskeyId): Promise<PasskeyRecord | undefined> =>
    passkeys(db).where('id', '=', id).executeTakeFirst(),

  passkeyByCredential: (db: Db, credentialId: string): Promise<PasskeyRecord | undefined> =>
    passkeys(db).where('credentialId', '=', credentialId).executeTakeFirst(),

  /** A user's passkeys, the oldest first. Few, because {@link maxPasskeys} limits them. */
  passkeysOf: (db: Db, userId: UserId): Promise<PasskeyRecord[]> =>
    passkeys(db).where('userId', '=', userId).orderBy('id').execute(),

  async countRecoveryCodes(db: Db, userId: UserId): Promise<number> {
    const { count } = await db
      .selectFrom('recovery_codes')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('userId', '=', userId)
      .executeTakeFirstOrThrow();
    return count;
  },

  /** The user of a recovery code. */
  recoveryCode: (db: Db, codeHash: string): Promise<{ readonly userId: UserId } | undefined> =>
    db.selectFrom('recovery_codes').select('userId').where('codeHash', '=', codeHash).executeTakeFirst(),

  pendingSignIn: (db: Db, secretHash: string): Promise<PendingSignInRecord | undefined> =>
    db
      .selectFrom('pending_sign_ins')
      .select(columns.pendingSignIns)
      .where('secretHash', '=', secretHash)
      .executeTakeFirst(),

  passkeyChallenge: (db: Db, challenge: string): Promise<PasskeyChallengeRecord | undefined> =>
    db
      .selectFrom('passkey_challenges')
      .select(columns.passkeyChallenges)
      .where('challenge', '=', challenge)
      .executeTakeFirst(),

  /** Whether a user, or `null` for unknown users, has more challenges than `max` that have not expired. */
  async hasManyChallenges(db: Db, userId: UserId | null, max: number, nowMs: number): Promise<boolean> {
    const rows = await db
      .selectFrom('passkey_challenges')
      .select('challenge')
      .where('userId', userId === null ? 'is' : '=', userId)
      .where('expiresAtMs', '>', nowMs)
      .limit(1)
      .offset(max)
      .execute();
    return rows.length > 0;
  },
};

export const passkeyMutations = {
  /** Invalidates what depends on whether the user has a passkey. */
  insertPasskey: statement({ audit: true, invalidates: ({ userId }) => [userId] }, (db: Db, passkey: PasskeyRecord) =>
    db.insertInto('passkeys').values(passkey),
  ),

  renamePasskey: statement({ audit: true, invalidates: nothing }, (db: Db, id: PasskeyId, name: string) =>
    db.updateTable('passkeys').set({ name }).where('id', '=', id),
  ),

  /** Stores the use of a passkey. */
  usePasskey: statement(
    { audit: true, invalidates: nothing, usesDiskReserve: true },
    (db: Db, id: PasskeyId, use: Pick<PasskeyRecord, 'counter' | 'lastUsedAtMs'>) =>
      db.updateTable('passkeys').set(use).where('id', '=', id),
  ),

  /** Deletes a passkey and the sessions in which it was last used. The session `except` stays, without the passkey. */
  deletePasskey: mutation(
    { audit: true, invalidates: ({ userId }) => [userId], usesDiskReserve: true },
    async (db: Db, { id }: Pick<PasskeyRecord, 'id' | 'userId'>, except?: SessionId): Promise<void> => {
      let deletion = db.deleteFrom('sessions').where('passkeyId', '=', id);
      if (except !== undefined) deletion = deletion.where('id', '!=', except);
      await deletion.execute();
      await db.deleteFrom('passkeys').where('id', '=', id).execute();
    },
  ),

  /** Deletes a user's passkeys and recovery codes. */
  deletePasskeysOf: mutation(
    { audit: true, invalidates: (userId) => [userId], usesDiskReserve: true },
    async (db: Db, userId: UserId): Promise<void> => {
      for (const table of ['recovery_codes', 'passkeys'] as const) {
        await db.deleteFrom(table).where('userId', '=', userId).execute();
      }
    },
  ),

  /** Replaces a user's recovery codes. */
  putRecoveryCodes: mutation(
    { audit: true, invalidates: nothing, usesDiskReserve: true },
    async (db: Db, userId: UserId, codeHashes: readonly string[]): Promise<void> => {
      await db.deleteFrom('recovery_codes').where('userId', '=', userId).execute();
      if (codeHashes.length === 0) return;
      await db
        .insertInto('recovery_codes')
        .values(codeHashes.map((codeHash) => ({ codeHash, userId })))
        .execute();
    },
  ),

  deleteRecoveryCode: statement(
    { audit: true, invalidates: nothing, usesDiskReserve: true },
    (db: Db, codeHash: string) => db.deleteFrom('recovery_codes').where('codeHash', '=', codeHash),
  ),

  insertPendingSignIn: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, pending: PendingSignInRecord) => db.insertInto('pending_sign_ins').values(pending),
  ),

  countAttempt: statement({ audit: false, invalidates: nothing, usesDiskReserve: true }, (db: Db, secretHash: string) =>
    db
      .updateTable('pending_sign_ins')
      .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
      .where('secretHash', '=', secretHash),
  ),

  deletePendingSignIn: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, secretHash: string) => db.deleteFrom('pending_sign_ins').where('secretHash', '=', secretHash),
  ),

  deletePendingSignInsOf: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, userId: UserId) => db.deleteFrom('pending_sign_ins').where('userId', '=', userId),
  ),

  insertPasskeyChallenge: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, challenge: PasskeyChallengeRecord) => db.insertInto('passkey_challenges').values(challenge),
  ),

  deletePasskeyChallenge: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, challenge: string) => db.deleteFrom('passkey_challenges').where('challenge', '=', challenge),
  ),

  /** Deletes what is expired, so that a flood leaves few rows until the next maintenance. */
  deleteExpiredChallenges: mutation(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    async (db: Db, nowMs: number): Promise<void> => {
      for (const table of ['passkey_challenges', 'pending_sign_ins'] as const) {
        await db.deleteFrom(table).where('expiresAtMs', '<=', nowMs).execute();
      }
    },
  ),
};

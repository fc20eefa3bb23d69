import type { AppId, IdentityId, SessionId, UserId } from '@tenon/protocol';
import { type Db, hasRow } from '../../db/db.ts';
import type {
  GrantedMembershipRecord,
  IdentityRecord,
  ProviderSignInRecord,
  SessionIdentityRecord,
} from '../../db/identity-records.ts';
import { nothing, statement } from '../../db/mutation.ts';
import { columns, type SessionRecord } from '../../db/records.ts';

const identities = (db: Db) => db.selectFrom('identities').select(columns.identities);

/** The maximum number of an account's identities. */
export const maxIdentities = 20;

/** Sessions that one logout ends. An account has at most 100. */
const maxSessions = 200;

export const identityQueries = {
  identityBySubject: (db: Db, issuer: string, subject: string): Promise<IdentityRecord | undefined> =>
    identities(db).where('issuer', '=', issuer).where('subject', '=', subject).executeTakeFirst(),

  /** An account's identities, oldest first. */
  identities: (db: Db, userId: UserId): Promise<IdentityRecord[]> =>
    identities(db).where('userId', '=', userId).orderBy('id').limit(maxIdentities).execute(),

  /** How a session was started, if at a provider. */
  sessionIdentity: (db: Db, sessionId: SessionId): Promise<SessionIdentityRecord | undefined> =>
    db
      .selectFrom('session_identities')
      .select(columns.sessionIdentities)
      .where('sessionId', '=', sessionId)
      .executeTakeFirst(),

  sessionsOfIdentity: (db: Db, identityId: IdentityId): Promise<SessionRecord[]> =>
    db
      .selectFrom('session_identities')
      .innerJoin('sessions', 'sessions.id', 'session_identities.sessionId')
      .select(columns.sessions)
      .where('session_identities.identityId', '=', identityId)
      .orderBy('sessions.id')
      .limit(maxSessions)
      .execute(),

  /** The sessions that belong to one session of an issuer. */
  sessionsBySid: (db: Db, issuer: string, sid: string): Promise<SessionRecord[]> =>
    db
      .selectFrom('session_identities')
      .innerJoin('identities', 'identities.id', 'session_identities.identityId')
      .innerJoin('sessions', 'sessions.id', 'session_identities.sessionId')
      .select(columns.sessions)
      .where('session_identities.sid', '=', sid)
      .where('identities.issuer', '=', issuer)
      .orderBy('sessions.id')
      .limit(maxSessions)
      .execute(),

  providerSignIn: (db: Db, stateHash: string): Promise<ProviderSignInRecord | undefined> =>
    db
      .selectFrom('provider_sign_ins')
      .select(columns.providerSignIns)
      .where('stateHash', '=', stateHash)
      .executeTakeFirst(),

  /** Whether more sign-ins at providers than `max` have not expired. */
  hasManyProviderSignIns: (db: Db, max: number, nowMs: number): Promise<boolean> =>
    hasRow(db.selectFrom('provider_sign_ins').select('stateHash').where('expiresAtMs', '>', nowMs).offset(max)),

  isUsedLogoutToken: (db: Db, tokenHash: string): Promise<boolean> =>
    hasRow(db.selectFrom('logout_tokens').select('tokenHash').where('tokenHash', '=', tokenHash)),

  grantedMemberships: (db: Db, userId: UserId, providerId: string): Promise<GrantedMembershipRecord[]> =>
    db
      .selectFrom('granted_memberships')
      .select(columns.grantedMemberships)
      .where('userId', '=', userId)
      .where('providerId', '=', providerId)
      .orderBy('appId')
      .execute(),

  /** Whether the provider's groups made the user an operator. */
  isGrantedOperator: (db: Db, userId: UserId, providerId: string): Promise<boolean> =>
    hasRow(
      db
        .selectFrom('granted_operators')
        .select('userId')
        .where('userId', '=', userId)
        .where('providerId', '=', providerId),
    ),
};

export const identityMutations = {
  /** @throws ConflictError if the identity belongs to an account */
  insertIdentity: statement({ audit: true, invalidates: nothing }, (db: Db, identity: IdentityRecord) =>
    db.insertInto('identities').values(identity),
  ),

  /** Stores the time of a sign-in, and the address that the provider sent. */
  updateIdentity: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, id: IdentityId, use: Pick<IdentityRecord, 'email' | 'lastUsedAtMs'>) =>
      db.updateTable('identities').set(use).where('id', '=', id),
  ),

  deleteIdentity: statement({ audit: true, invalidates: nothing, usesDiskReserve: true }, (db: Db, id: IdentityId) =>
    db.deleteFrom('identities').where('id', '=', id),
  ),

  insertSessionIdentity: statement(
    { audit: true, invalidates: nothing, usesDiskReserve: true },
    (db: Db, started: SessionIdentityRecord) => db.insertInto('session_identities').values(started),
  ),

  insertProviderSignIn: statement(
    // The audit event is recorded when the sign-in ends.
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, signIn: ProviderSignInRecord) => db.insertInto('provider_sign_ins').values(signIn),
  ),

  useProviderSignIn: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, stateHash: string, usedAtMs: number) =>
      db.updateTable('provider_sign_ins').set({ usedAtMs }).where('stateHash', '=', stateHash),
  ),

  insertLogoutToken: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, token: { readonly tokenHash: string; readonly expiresAtMs: number }) =>
      db.insertInto('logout_tokens').values(token),
  ),

  putGrantedMembership: statement({ audit: true, invalidates: nothing }, (db: Db, granted: GrantedMembershipRecord) =>
    db
      .insertInto('granted_memberships')
      .values(granted)
      .onConflict((conflict) =>
        conflict.columns(['userId', 'providerId', 'appId']).doUpdateSet({ role: granted.role }),
      ),
  ),

  deleteGrantedMembership: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, { userId, providerId, appId }: { userId: UserId; providerId: string; appId: AppId }) =>
      db
        .deleteFrom('granted_memberships')
        .where('userId', '=', userId)
        .where('providerId', '=', providerId)
        .where('appId', '=', appId),
  ),

  putGrantedOperator: statement({ audit: true, invalidates: nothing }, (db: Db, userId: UserId, providerId: string) =>
    db
      .insertInto('granted_operators')
      .values({ userId, providerId })
      .onConflict((conflict) => conflict.columns(['userId', 'providerId']).doNothing()),
  ),

  deleteGrantedOperator: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, userId: UserId, providerId: string) =>
      db.deleteFrom('granted_operators').where('userId', '=', userId).where('providerId', '=', providerId),
  ),
};

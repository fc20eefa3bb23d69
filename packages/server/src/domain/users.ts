import { isId, type MemberRole, newId, type UserId } from '@tenon/protocol';
import { record } from './audit/record.ts';
import type { Context } from './context.ts';
import { normalizeEmail } from './emails.ts';
import { notFound } from './errors.ts';
import { passwordIdentity } from './passwords.ts';
import type { Queries } from './ports.ts';
import type { AppRecord, UserRecord } from './records.ts';

/** Makes a user, who can't sign in but by tokens, for the operator. */
export async function createUser(
  parts: Pick<Context, 'store' | 'clock'>,
  fields: { readonly name: string; readonly email: string | null },
): Promise<UserRecord> {
  const user: UserRecord = { id: newId('user'), ...fields, createdAtMs: parts.clock(), deletedAtMs: null };
  await parts.store.write(async (tx) => {
    await tx.insertUser(user);
    const details = { means: 'operator' };
    await record(parts, tx, 'operator', { action: 'account.create', accountId: user.id, target: user, details });
  });
  return user;
}

/** The user with an id, or with the e-mail address that they sign in with; `undefined` for one who isn't there, or no more. */
export async function findUser(read: Queries, named: string): Promise<UserRecord | undefined> {
  const id = isId('user', named) ? named : (await read.identity('password', normalizeEmail(named)))?.userId;
  const user = id === undefined ? undefined : await read.user(id);
  return user?.deletedAtMs === null ? user : undefined;
}

/** A user as an operator recognises one. */
export interface UserDescription {
  readonly user: UserRecord;
  /** The address that the user signs in with. Nobody has verified it. */
  readonly email: string | null;
  readonly apps: readonly { readonly app: AppRecord; readonly role: MemberRole | 'guest' }[];
}

/** The most applications that a description names. */
const maxDescribedApps = 20;

/** @throws DomainError `not_found` */
export async function describeUser({ store }: Pick<Context, 'store'>, userId: UserId): Promise<UserDescription> {
  const { read } = store;
  const user = await read.user(userId);
  if (user === undefined) throw notFound('user');
  const identity = await passwordIdentity(read, userId);
  const apps = await read.appsOf(userId, undefined, { limit: maxDescribedApps });
  const roles = apps.map(async (app) => ({
    app,
    role: (await read.member(app.id, userId))?.role ?? ('guest' as const),
  }));
  return { user, email: identity?.subject ?? user.email, apps: await Promise.all(roles) };
}

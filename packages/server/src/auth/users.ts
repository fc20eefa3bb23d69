import { isId, newId, type UserId } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import type { UserRecord } from '../db/records.ts';
import type { Queries } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../http/domain-errors.ts';
import { normalizeEmail, parseEmail } from './emails.ts';
import { requireUnusedEmail } from './sign-up.ts';

/**
 * Creates a user for the operator. The user has no password.
 *
 * @throws DomainError `invalid_field` or `email_taken` for the e-mail address
 */
export async function createUser(
  deps: Pick<Deps, 'store' | 'clock'>,
  fields: { readonly name: string; readonly email: string | null },
): Promise<UserRecord> {
  const email = fields.email === null ? null : parseEmail(fields.email);
  const user: UserRecord = {
    id: newId('user'),
    name: fields.name,
    email,
    createdAtMs: deps.clock(),
    deletedAtMs: null,
  };
  await deps.store.write(async (tx) => {
    if (email !== null) await requireUnusedEmail(tx, email);
    await tx.insertUser(user);
    const details = { means: 'operator' };
    await record(deps, tx, 'operator', { action: 'account.create', accountId: user.id, target: user, details });
  });
  return user;
}

/** Finds a user that was not deleted. */
export async function findUser(read: Queries, idOrEmail: string): Promise<UserRecord | undefined> {
  const user = await (isId('user', idOrEmail) ? read.user(idOrEmail) : read.userByEmail(normalizeEmail(idOrEmail)));
  return user?.deletedAtMs === null ? user : undefined;
}

/** The maximum number of applications in a description. */
const maxDescribedApps = 20;

/**
 * Describes a user to the operator: the record, and the user's first applications with the user's role.
 *
 * @throws DomainError `not_found`
 */
export async function describeUser({ store }: Pick<Deps, 'store'>, userId: UserId) {
  const { read } = store;
  const user = await read.user(userId);
  if (user === undefined) throw notFound('user');
  const apps = await read.appsOf(userId, undefined, { limit: maxDescribedApps });
  const roles = apps.map(async (app) => ({
    app,
    role: (await read.member(app.id, userId))?.role ?? ('guest' as const),
  }));
  return { user, apps: await Promise.all(roles) };
}

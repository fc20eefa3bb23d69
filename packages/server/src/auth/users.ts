import { isId, newId } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import type { UserRecord } from '../db/records.ts';
import type { Queries } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { normalizeEmail, parseEmail } from './emails.ts';
import { requireUser } from './manage-users.ts';
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
    lastSeenAtMs: 0,
    suspendedAtMs: null,
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

/** Describes a user to operators: with the first applications and the user's role in each. @throws DomainError `not_found` */
export async function describeUser({ store, clock }: Pick<Deps, 'store' | 'clock'>, userId: string) {
  const { read } = store;
  const user = await requireUser(read, userId);
  const { id } = user;
  const nowMs = clock();
  const [isOperator, preferences, appCounts, found, pluginCount, sessionCount, tokenCount, apiKeyCount] =
    await Promise.all([
      read.isOperator(id),
      read.mailPreferences(id),
      read.countAppsOf([id]),
      read.appsOf(id, undefined, { limit: maxDescribedApps }),
      read.countPluginsOf(id),
      read.countSessions(id, nowMs),
      read.countTokens(id, nowMs),
      read.countApiKeys(id, nowMs),
    ]);
  const apps = await Promise.all(
    found.map(async (app) => ({ app, role: (await read.member(app.id, id))?.role ?? ('guest' as const) })),
  );
  const counts = { appCount: appCounts.get(id) ?? 0, pluginCount, sessionCount, tokenCount, apiKeyCount };
  const isEmailVerified = user.email !== null && preferences?.verifiedEmail === user.email;
  return { user: { ...user, isOperator, isEmailVerified, appCount: counts.appCount }, apps, ...counts };
}

/** A user, as operators see it. */
export type UserDescription = Awaited<ReturnType<typeof describeUser>>;

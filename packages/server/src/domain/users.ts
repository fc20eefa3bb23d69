import { isId, newId } from '@tenon/protocol';
import { record } from './audit/record.ts';
import type { Context } from './context.ts';
import { normalizeEmail } from './emails.ts';
import type { Queries } from './ports.ts';
import type { UserRecord } from './records.ts';

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

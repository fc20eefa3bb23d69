import { newId } from '@tenon/protocol';
import type { Actor } from './access.ts';
import type { Context } from './context.ts';
import { notFound } from './errors.ts';
import type { UserRecord } from './records.ts';

/** Makes a user. */
export async function createUser(
  parts: Pick<Context, 'store' | 'clock'>,
  fields: { readonly name: string; readonly email: string | null },
): Promise<UserRecord> {
  const user: UserRecord = { id: newId('user'), ...fields, createdAtMs: parts.clock(), deletedAtMs: null };
  await parts.store.write((tx) => tx.insertUser(user));
  return user;
}

/** @throws DomainError `not_found` when the user is gone */
export async function readUser(context: Context, actor: Actor): Promise<UserRecord> {
  const user = await context.store.read.user(actor.userId);
  if (user === undefined) throw notFound('user');
  return user;
}

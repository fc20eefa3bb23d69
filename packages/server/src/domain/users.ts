import { newId } from '@tenon/protocol';
import type { Context } from './context.ts';
import type { UserRecord } from './records.ts';

/** Makes a user, who can't sign in but by tokens. */
export async function createUser(
  parts: Pick<Context, 'store' | 'clock'>,
  fields: { readonly name: string; readonly email: string | null },
): Promise<UserRecord> {
  const user: UserRecord = { id: newId('user'), ...fields, createdAtMs: parts.clock(), deletedAtMs: null };
  await parts.store.write((tx) => tx.insertUser(user));
  return user;
}

import { newId } from '@tenon/protocol';
import { record } from './audit/record.ts';
import type { Context } from './context.ts';
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

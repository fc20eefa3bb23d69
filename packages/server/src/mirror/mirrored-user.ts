import type { Db } from '../db/db.ts';
import type { UserRecord } from '../db/records.ts';

/*
 * A mirror stores what the source answers in the rows in which the source has it, so that all requests read the same tables. The source has
 * the audit events of these changes, so none of the mutations of a mirror needs one.
 */

/** Stores a publisher of the source, or the user of the hosts' tokens. */
export async function putMirroredUser(db: Db, user: UserRecord): Promise<void> {
  await db
    .insertInto('users')
    .values({ ...user, publishChargedUntilMs: 0, mailsChargedUntilMs: 0, simulationsChargedUntilMs: null })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ name: user.name }))
    .execute();
}

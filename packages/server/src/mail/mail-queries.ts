import type { AppId, InvitationId, MailId, UserId } from '@tenon/protocol';
import { type Db, hasRow } from '../db/db.ts';
import type {
  MailedCodeRecord,
  MailKind,
  MailPreferencesRecord,
  MailQueueSummary,
  MailRecord,
} from '../db/mail-records.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { setOf } from '../db/page-queries.ts';
import { columns } from '../db/records.ts';

export const mailQueries = {
  isAnyMailDue: (db: Db, nowMs: number): Promise<boolean> =>
    hasRow(db.selectFrom('mails').select('id').where('state', '=', 'queued').where('dueAtMs', '<=', nowMs)),

  async mailQueue(db: Db): Promise<MailQueueSummary> {
    const count = (state: MailRecord['state']) =>
      db
        .selectFrom('mails')
        .select((all) => [all.fn.countAll<number | string>().as('count'), all.fn.min('createdAtMs').as('oldestMs')])
        .where('state', '=', state)
        .executeTakeFirstOrThrow();
    const [queued, failed] = [await count('queued'), await count('failed')];
    const oldestQueuedAtMs = queued.oldestMs === null ? null : Number(queued.oldestMs);
    return { queued: Number(queued.count), oldestQueuedAtMs, failed: Number(failed.count) };
  },

  mailedCode: (db: Db, codeHash: string): Promise<MailedCodeRecord | undefined> =>
    db.selectFrom('mailed_codes').select(columns.mailedCodes).where('codeHash', '=', codeHash).executeTakeFirst(),

  mailPreferences: (db: Db, userId: UserId): Promise<MailPreferencesRecord | undefined> =>
    db.selectFrom('mail_preferences').select(columns.mailPreferences).where('userId', '=', userId).executeTakeFirst(),

  /** The newest mail of a kind to a user; with `appId`, about that application. */
  newestMail(db: Db, userId: UserId, kind: MailKind, appId?: AppId): Promise<MailRecord | undefined> {
    let mails = db.selectFrom('mails').select(columns.mails).where('userId', '=', userId).where('kind', '=', kind);
    if (appId !== undefined) mails = mails.where('appId', '=', appId);
    return mails.orderBy('createdAtMs', 'desc').limit(1).executeTakeFirst();
  },

  /** The newest mail of each invitation. */
  async mailsOfInvitations(
    db: Db,
    ids: readonly InvitationId[],
  ): Promise<ReadonlyMap<InvitationId, Pick<MailRecord, 'state' | 'error'>>> {
    const rows = await db
      .selectFrom('mails')
      .select(['invitationId', 'state', 'error'])
      .where('invitationId', 'in', setOf(ids))
      .orderBy('id')
      .execute();
    return new Map(rows.map(({ invitationId, ...mail }) => [invitationId as InvitationId, mail]));
  },
};

/** The kinds of mail that a person has just asked for. */
const awaitedKinds: readonly MailKind[] = ['password_reset', 'verify_email', 'change_email'];

export const mailMutations = {
  insertMail: statement({ audit: false, invalidates: nothing }, (db: Db, mail: MailRecord) =>
    db.insertInto('mails').values(mail),
  ),

  /**
   * Takes a mail that is due, so that other processes leave it alone until a time. Mails that a person waits for come first: a password
   * link doesn't wait for a thousand invitations.
   */
  claimMail: mutation(
    { audit: false, invalidates: nothing },
    (
      db: Db,
      { nowMs, untilMs }: { readonly nowMs: number; readonly untilMs: number },
    ): Promise<MailRecord | undefined> =>
      db
        .updateTable('mails')
        .set(({ eb }) => ({ dueAtMs: untilMs, attempts: eb('attempts', '+', 1) }))
        .where('id', '=', (mails) =>
          mails
            .selectFrom('mails')
            .select('id')
            .where('state', '=', 'queued')
            .where('dueAtMs', '<=', nowMs)
            .orderBy((eb) => eb.case().when('kind', 'in', awaitedKinds).then(0).else(1).end())
            .orderBy('dueAtMs')
            .limit(1),
        )
        .returning(columns.mails)
        .executeTakeFirst(),
  ),

  /** Sets when the next attempt is due, unless the mail is settled. */
  postponeMail: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, id: MailId, dueAtMs: number, error: string) =>
      db.updateTable('mails').set({ dueAtMs, error }).where('id', '=', id).where('state', '=', 'queued'),
  ),

  /** Ends the attempts to send a mail. */
  settleMail: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, id: MailId, fields: Pick<MailRecord, 'state' | 'dueAtMs' | 'error'>) =>
      db
        .updateTable('mails')
        .set({ ...fields, facts: {} })
        .where('id', '=', id)
        .where('state', '=', 'queued'),
  ),

  /** Deletes a mail that is not to be sent any more. */
  deleteMail: statement({ audit: false, invalidates: nothing, usesDiskReserve: true }, (db: Db, id: MailId) =>
    db.deleteFrom('mails').where('id', '=', id),
  ),

  insertMailedCode: statement({ audit: false, invalidates: nothing }, (db: Db, code: MailedCodeRecord) =>
    db.insertInto('mailed_codes').values(code),
  ),

  /** Deletes the requested changes of a user's address: mails that wait, and the codes of mails that were sent. */
  deleteEmailChangesOf: mutation(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    async (db: Db, userId: UserId): Promise<void> => {
      await db
        .deleteFrom('mails')
        .where('userId', '=', userId)
        .where('kind', '=', 'change_email')
        .where('state', '=', 'queued')
        .execute();
      await db.deleteFrom('mailed_codes').where('userId', '=', userId).where('purpose', '=', 'change_email').execute();
    },
  ),

  putMailPreferences: mutation(
    { audit: true, invalidates: nothing },
    async (db: Db, preferences: MailPreferencesRecord): Promise<void> => {
      const { verifiedEmail, muted } = preferences;
      await db
        .insertInto('mail_preferences')
        .values(preferences)
        .onConflict((conflict) => conflict.column('userId').doUpdateSet({ verifiedEmail, muted }))
        .execute();
    },
  ),
};

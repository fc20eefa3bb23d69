import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { SmtpServer } from '../../config/readers.ts';
import type { Settings } from '../../config/settings.ts';
import type { MailQueueSummary, MailRecord } from '../../db/mail-records.ts';
import type { Transaction } from '../../db/store.ts';
import type { Deps } from '../../deps.ts';
import type { MailText } from '../../mail/mail-text.ts';
import type { MailError, SmtpSession } from '../../mail/smtp.ts';

/*
 * The queue of mails. A change queues its mail in its own transaction. Each node sends mails that are due:
 *
 *   claim    one transaction moves the mail ahead by `mailLeaseMs`, creates the secrets of its links, and reads its text
 *   send     over SMTP
 *   settle   another transaction marks it as sent, as failed, or as due later
 *
 * After a crash between the last two, the mail is sent once more when the lease has ended. It then has the same `Message-ID`.
 */

/** How long the server tries to send a mail, in milliseconds. Therefore a restored backup sends no old mails. */
export const maxAgeMs = 2 * 24 * 60 * 60_000;

const minRetryMs = 60_000;
const maxRetryMs = 4 * 60 * 60_000;

/** How many deferred mails in a row end a connection. */
const maxDeferrals = 10;

/** The longest pause while the mail server can't be reached, in milliseconds. */
const maxPauseMs = 60_000;

/** Reads the text of a claimed mail and creates its secrets. Returns `undefined` if the mail is not to be sent any more. */
export type ComposeMail = (tx: Transaction, mail: MailRecord) => Promise<MailText | undefined>;

type QueueDeps = Pick<Deps, 'store' | 'clock'> & { readonly settings: Pick<Settings, 'mailLeaseMs' | 'mailPollMs'> };

export interface SenderDeps {
  readonly deps: QueueDeps;
  readonly server: SmtpServer;
  readonly compose: ComposeMail;
  readonly log: Logger;
}

/** Sends the mails of the queue until it is stopped. */
export type MailSender = ReturnType<typeof startMailSender>;

export function startMailSender(options: SenderDeps) {
  const { deps, log } = options;
  const { store, clock, settings } = deps;
  const { mailPollMs: pollMs } = settings;
  const stopping = new AbortController();
  const { signal } = stopping;
  const counts = { sent: 0, postponed: 0, failed: 0 };
  const state = { queue: undefined as MailQueueSummary | undefined, unreachable: undefined as string | undefined };
  let failures = 0;

  const run = async (): Promise<void> => {
    for (;;) {
      await sleep(failures === 0 ? pollMs : Math.min(maxPauseMs, pollMs * 2 ** failures), undefined, {
        ref: false,
        signal,
      });
      try {
        if (await store.read.isAnyMailDue(clock())) await sendDueMails(options, counts, signal);
        state.queue = await store.read.mailQueue();
        if (failures > 0) log.info('mail: sending again');
        failures = 0;
        state.unreachable = undefined;
      } catch (error) {
        if (signal.aborted) return;
        failures++;
        state.unreachable = (error as Error).message;
        if (failures === 1) log.warn({ err: error }, 'mail: cannot send');
      }
    }
  };
  const ended = run().catch((error: unknown) => {
    if (!signal.aborted) log.error({ err: error }, 'mail: stopped');
  });
  return {
    /** How many attempts of this process had each outcome. */
    counts: counts as Readonly<typeof counts>,
    /** The queue as last read, and why the mail server can't be reached. */
    state: state as Readonly<typeof state>,
    /** Stops after the mail that is being sent. */
    async stop(): Promise<void> {
      stopping.abort();
      await ended;
    },
  };
}

/**
 * Sends the mails that are due, one after another.
 *
 * @param counts adds the outcomes of attempts
 * @throws MailError if the mail server can't be reached; errors of the store
 */
export async function sendDueMails(
  { deps, server, compose, log }: SenderDeps,
  counts: { sent: number; postponed: number; failed: number },
  signal: AbortSignal,
): Promise<void> {
  const { openSmtpSession } = await import('../../mail/smtp.ts');
  // Before a mail is claimed, so that an unreachable server costs no mail an attempt.
  const session = await openSmtpSession(server);
  let deferrals = 0;
  try {
    while (!signal.aborted) {
      const claimed = await claim(deps, compose);
      if (claimed === undefined) return;
      const { mail, text } = claimed;
      if (text === undefined) continue;
      const error = await trySend(session, mail, text);
      const outcome = await settle(deps, mail, error);
      counts[outcome]++;
      const { id, kind, attempts } = mail;
      if (outcome !== 'sent') log.warn({ mailId: id, kind, attempts, reason: error?.message }, `mail: ${outcome}`);
      // A server that defers one mail after another is busy. Other mails wait for the next connection.
      deferrals = outcome === 'postponed' ? deferrals + 1 : 0;
      if (error?.endsSession || deferrals === maxDeferrals) return;
    }
  } finally {
    session.close();
  }
}

async function claim({ store, clock, settings }: QueueDeps, compose: ComposeMail) {
  return store.write(async (tx) => {
    const nowMs = clock();
    const mail = await tx.claimMail({ nowMs, untilMs: nowMs + settings.mailLeaseMs });
    if (mail === undefined) return undefined;
    const isTooOld = mail.createdAtMs + maxAgeMs < nowMs;
    const text = isTooOld ? undefined : await compose(tx, mail);
    if (isTooOld) {
      await tx.settleMail(mail.id, { state: 'failed', dueAtMs: nowMs, error: mail.error ?? 'It waited too long' });
    } else if (text === undefined) await tx.deleteMail(mail.id);
    return { mail, text };
  });
}

async function trySend(session: SmtpSession, mail: MailRecord, text: MailText): Promise<MailError | undefined> {
  try {
    await session.send({ ...text, to: mail.recipient, messageId: mail.id });
    return undefined;
  } catch (error) {
    return error as MailError;
  }
}

type Outcome = 'sent' | 'postponed' | 'failed';

/** Stores the outcome of an attempt. Retries while the lease lasts, because otherwise the mail is sent twice. */
async function settle(deps: QueueDeps, mail: MailRecord, error: MailError | undefined) {
  const { store, clock, settings } = deps;
  const retryMs = Math.min(maxRetryMs, minRetryMs * 2 ** (mail.attempts - 1));
  const nowMs = clock();
  const isGivenUp = error !== undefined && (error.isPermanent || nowMs + retryMs > mail.createdAtMs + maxAgeMs);
  const outcome: Outcome = error === undefined ? 'sent' : isGivenUp ? 'failed' : 'postponed';
  for (;;) {
    try {
      await store.write(async (tx) => {
        if (outcome === 'postponed') await tx.postponeMail(mail.id, nowMs + retryMs, error?.message ?? '');
        else await tx.settleMail(mail.id, { state: outcome, dueAtMs: nowMs, error: error?.message ?? null });
      });
      return outcome;
    } catch (cause) {
      if (clock() - nowMs > settings.mailLeaseMs / 2) throw cause;
      await sleep(1000);
    }
  }
}

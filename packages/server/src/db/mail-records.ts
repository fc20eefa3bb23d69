import type { AppId, InvitationId, MailId, UserId } from '@tenon/protocol';

/** What a mail is about. The text is written when the mail is sent. */
export type MailKind = 'invitation';

/** A mail in the queue. */
export interface MailRecord {
  readonly id: MailId;
  readonly kind: MailKind;
  /** The e-mail address. */
  readonly recipient: string;
  /** The user to whom a notice or a link goes; `null` for an invitation. */
  readonly userId: UserId | null;
  readonly invitationId: InvitationId | null;
  readonly appId: AppId | null;
  /** Facts for the text, without secrets. Deleted when the mail is settled. */
  readonly facts: Readonly<Record<string, string>>;
  readonly state: 'queued' | 'sent' | 'failed';
  /** How often the server tried to send it. */
  readonly attempts: number;
  readonly createdAtMs: number;
  /**
   * When the next attempt is due. A process that sends the mail moves it ahead, so that others leave the mail alone. For a mail that is
   * not queued: when it was sent, or the server gave up.
   */
  readonly dueAtMs: number;
  /** Why the last attempt failed. */
  readonly error: string | null;
}

/** A code that was mailed for an invitation. The invitation's own code is in its link. */
export interface MailedCodeRecord {
  readonly codeHash: string;
  readonly invitationId: InvitationId;
}

/** The state of the queue. */
export interface MailQueueSummary {
  readonly queued: number;
  readonly oldestQueuedAtMs: number | null;
  /** Mails that the server gave up, while they are kept. */
  readonly failed: number;
}

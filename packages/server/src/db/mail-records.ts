import type { AppId, InvitationId, MailId, UserId } from '@tenon/protocol';

/** The kinds of mails that users can turn off. */
export const noticeNames = [
  'approvals',
  'withdrawals',
  'signIns',
  'newNetworks',
  'expiries',
  'quotas',
  'webhooks',
  'rollOuts',
] as const;

export type Notice = (typeof noticeNames)[number];

/** What a mail is about. The text is written when the mail is sent. */
export type MailKind =
  | 'invitation'
  | 'password_reset'
  | 'verify_email'
  | 'change_email'
  | 'email_change_notice'
  | Notice;

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

/** A code that was mailed. It proves that its user reads the mails of an address. */
export interface MailedCodeRecord {
  readonly codeHash: string;
  readonly purpose: 'invitation' | 'password_reset' | 'verify_email' | 'change_email' | 'unsubscribe';
  readonly recipient: string;
  readonly userId: UserId | null;
  readonly invitationId: InvitationId | null;
  /** What `unsubscribe` turns off. */
  readonly notice: Notice | null;
  readonly expiresAtMs: number;
}

/** Which notices a user gets. A missing row is a user without a verified address. */
export interface MailPreferencesRecord {
  readonly userId: UserId;
  /** The address that a mailed link has verified. Notices go to it while it is the user's. */
  readonly verifiedEmail: string | null;
  /** The notices that the user has turned off. */
  readonly muted: readonly Notice[];
}

/** The state of the queue. */
export interface MailQueueSummary {
  readonly queued: number;
  readonly oldestQueuedAtMs: number | null;
  /** Mails that the server gave up, while they are kept. */
  readonly failed: number;
}

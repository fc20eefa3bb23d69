import type { UserId } from '@tenon/protocol';
import { findSendableInvitation } from '../../apps/invitations.ts';
import { record } from '../../audit/record.ts';
import { insertPasswordLink, linkUrl } from '../../auth/one-time-links.ts';
import { hashSecret, makeCode } from '../../auth/secrets.ts';
import type { MailedCodeRecord, MailRecord, Notice } from '../../db/mail-records.ts';
import type { Transaction } from '../../db/store.ts';
import type { Deps } from '../../deps.ts';
import { type MailText, oneLine } from '../../mail/mail-text.ts';
import { noticeAddress } from '../../mail/notices.ts';
import type { Addresses } from '../../services.ts';
import { expiriesText, minute, newNetworksText, quotasText, rollOutsText, webhooksText } from './account-notices.ts';
import type { ComposeMail } from './send-mails.ts';

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;

/** How long mailed links work, in milliseconds. */
const lifetimes = { password_reset: hourMs, verify_email: dayMs, change_email: dayMs, unsubscribe: 60 * dayMs };

/** The maximum number of waiting versions that a mail names. */
const maxNamedVersions = 10;

/** Returns the texts of mails. The secrets of their links are created here, so that the queue contains none. */
export function createMailComposer(deps: Pick<Deps, 'store' | 'clock' | 'random' | 'settings'>, addresses: Addresses) {
  const { clock, random } = deps;

  /** Creates a code for a link in a mail. */
  const insertCode = async (
    tx: Transaction,
    { recipient, userId, invitationId }: MailRecord,
    fields: Pick<MailedCodeRecord, 'purpose' | 'expiresAtMs'> & { readonly notice?: Notice },
  ): Promise<string> => {
    const code = makeCode(random);
    await tx.insertMailedCode({ codeHash: hashSecret(code), recipient, userId, invitationId, notice: null, ...fields });
    return code;
  };

  const invitation: ComposeMail = async (tx, mail) => {
    const { invitationId } = mail;
    const found = invitationId === null ? undefined : await findSendableInvitation(tx, invitationId, clock());
    if (found === undefined) return undefined;
    const { app, invitation } = found;
    const { role, expiresAtMs } = invitation;
    const code = await insertCode(tx, mail, { purpose: 'invitation', expiresAtMs });
    const appName = oneLine(app.name);
    const inviter = role === null ? undefined : oneLine((await tx.user(invitation.createdBy))?.name ?? 'A member');
    return {
      subject: `Invitation to ${appName}`,
      paragraphs: [
        role === null
          ? `You are invited to publish plugins for the application “${appName}”.`
          : `${inviter} invites you to the team of the application “${appName}”, as ${role}.`,
      ],
      action: { label: 'View the invitation', url: `${addresses.base()}/accept-invite?code=${code}` },
      notes: [
        `The link works until ${minute(expiresAtMs)}. Don't forward it: everyone who has it can accept the invitation.`,
        'If you did not expect this invitation, ignore this mail.',
      ],
    };
  };

  const passwordReset: ComposeMail = async (tx, mail) => {
    const user = await activeUser(tx, mail);
    if (user === undefined) return undefined;
    const expiresAtMs = clock() + lifetimes.password_reset;
    const link = await insertPasswordLink(deps, tx, user.id, expiresAtMs);
    const { id: linkId, codeHash } = link.record;
    await tx.insertMailedCode({ ...codeFields(mail), codeHash, purpose: 'password_reset', expiresAtMs });
    const entry = { action: 'account.password_link', accountId: user.id, target: user } as const;
    await record(deps, tx, 'system', { ...entry, details: { linkId } });
    return {
      subject: 'Reset your password',
      paragraphs: ['A new password was requested for your account.'],
      action: { label: 'Set a new password', url: linkUrl(addresses.base(), link) },
      notes: [`The link works once, until ${minute(expiresAtMs)}. If you did not ask for it, ignore this mail.`],
    };
  };

  const verifyEmail: ComposeMail = async (tx, mail) => {
    if ((await activeUser(tx, mail)) === undefined) return undefined;
    const expiresAtMs = clock() + lifetimes.verify_email;
    const code = await insertCode(tx, mail, { purpose: 'verify_email', expiresAtMs });
    return {
      subject: 'Verify your e-mail address',
      paragraphs: ['Verify this address to get notices about your account and your plugins.'],
      action: { label: 'Verify the address', url: `${addresses.base()}/verify-email?code=${code}` },
      notes: [`The link works until ${minute(expiresAtMs)}. If you have no account here, ignore this mail.`],
    };
  };

  const changeEmail: ComposeMail = async (tx, mail) => {
    if ((await activeOwner(tx, mail)) === undefined || (await tx.userByEmail(mail.recipient)) !== undefined)
      return undefined;
    const expiresAtMs = clock() + lifetimes.change_email;
    const code = await insertCode(tx, mail, { purpose: 'change_email', expiresAtMs });
    return {
      subject: 'Confirm your new e-mail address',
      paragraphs: ['An account on this server shall use this address, also to sign in.'],
      action: { label: 'Use the address', url: `${addresses.base()}/change-email?code=${code}` },
      notes: [`The link works once, until ${minute(expiresAtMs)}. If you did not ask for it, ignore this mail.`],
    };
  };

  const emailChangeNotice: ComposeMail = async (tx, mail) => {
    if ((await activeOwner(tx, mail)) === undefined) return undefined;
    const { at = '', address = '', isDone } = mail.facts;
    const when = `Time: ${minute(Date.parse(at))}. Network address: ${address}.`;
    if (isDone !== undefined) {
      return {
        subject: 'The e-mail address of your account was changed',
        paragraphs: ['Your account uses another e-mail address instead of this one.', when],
        notes: ['If this was not you, ask the operator of the server for help.'],
      };
    }
    return {
      subject: 'Another e-mail address was requested for your account',
      paragraphs: ['A mail to the other address has a link that changes the address of your account.', when],
      action: { label: 'View your account', url: `${addresses.base()}/account` },
      notes: [
        'If this was not you, change your password, or end all sessions and tokens: the link then stops working.',
      ],
    };
  };

  /** Composes a notice if the user still gets it, and adds the link that turns it off. */
  const notice =
    (kind: Notice, text: (tx: Transaction, mail: MailRecord, userId: UserId) => Promise<MailText | undefined>) =>
    async (tx: Transaction, mail: MailRecord): Promise<MailText | undefined> => {
      const { userId, recipient } = mail;
      if (userId === null || (await noticeAddress(tx, userId, kind)) !== recipient) return undefined;
      const composed = await text(tx, mail, userId);
      // A notice about an account's security can be turned off only on the page of the account.
      if (composed === undefined || kind === 'signIns' || kind === 'newNetworks') return composed;
      const expiresAtMs = clock() + lifetimes.unsubscribe;
      const code = await insertCode(tx, mail, { purpose: 'unsubscribe', notice: kind, expiresAtMs });
      return { ...composed, unsubscribeUrl: `${addresses.base()}/unsubscribe?code=${code}` };
    };

  const approvals = notice('approvals', async (tx, { appId }, userId) => {
    const [app, member] = appId === null ? [] : [await tx.app(appId), await tx.member(appId, userId)];
    if (app === undefined || member === undefined || member.role === 'viewer') return undefined;
    const count = await tx.countVersionsAwaitingApproval(app.id, undefined);
    if (count === 0) return undefined;
    const versions = await tx.versionsAwaitingApproval(app.id, { limit: maxNamedVersions });
    const appName = oneLine(app.name);
    return {
      subject: `${count === 1 ? 'A version waits' : `${count} versions wait`} for approval in ${appName}`,
      paragraphs: versions.map(
        ({ name, number, userName, extensionPointName }) =>
          `${name}, version ${number}, by ${oneLine(userName)}, for “${oneLine(extensionPointName)}”`,
      ),
      action: { label: 'Review', url: `${addresses.base()}/apps/${app.id}/approvals` },
    };
  });

  const withdrawals = notice('withdrawals', async (_, { facts }) => {
    const { what = '', plugin = '', reason = '', app = '', extensionPoint = '' } = facts;
    if (facts.of !== undefined) return composeMassWithdrawal(facts);
    return {
      subject: `Your plugin ${plugin} was ${what}`,
      paragraphs: [
        `The team of the application “${oneLine(app)}” ${what} your plugin ${plugin}, for “${oneLine(extensionPoint)}”.`,
        ...(reason === '' ? [] : [`Their reason: ${oneLine(reason)}`]),
      ],
    };
  });

  const signIns = notice('signIns', async (_, { facts }) => {
    const { address = '', userAgent = '', at = '', remaining } = facts;
    const usesCode = remaining !== undefined;
    return {
      subject: usesCode ? 'A recovery code of your account was used' : 'New sign-in to your account',
      paragraphs: [
        usesCode
          ? `One of your recovery codes was used to sign in. ${remaining} of them are left.`
          : 'A browser that is new to your account has signed in to it.',
        `Time: ${minute(Date.parse(at))}. Network address: ${address}. Browser: ${oneLine(userAgent) || 'unknown'}.`,
      ],
      action: { label: 'View your sessions', url: `${addresses.base()}/account` },
      notes: ['If this was not you, end the session on that page and change your password.'],
    };
  });

  const composers: Readonly<Record<MailRecord['kind'], ComposeMail>> = {
    invitation,
    password_reset: passwordReset,
    verify_email: verifyEmail,
    change_email: changeEmail,
    email_change_notice: emailChangeNotice,
    approvals,
    withdrawals,
    signIns,
    newNetworks: notice('newNetworks', newNetworksText(addresses)),
    expiries: notice('expiries', expiriesText(deps, addresses)),
    quotas: notice('quotas', quotasText(addresses)),
    webhooks: notice('webhooks', webhooksText(addresses)),
    rollOuts: notice('rollOuts', rollOutsText(addresses)),
  };
  const compose: ComposeMail = (tx, mail) => composers[mail.kind](tx, mail);
  return compose;
}

/** A block of a publisher, or many versions that were yanked at once. */
function composeMassWithdrawal({ of, count = '', by, to, reason = '', app = '' }: MailRecord['facts']) {
  const name = `“${oneLine(app)}”`;
  const why = [`Their reason: ${oneLine(reason)}`];
  if (of === 'publisher') {
    const paragraphs = [
      `The team of the application ${name} blocked all your plugins. You can publish none there.`,
      ...why,
    ];
    return { subject: `Your plugins were blocked in ${oneLine(app)}`, paragraphs };
  }
  const actors = {
    team: `The team of the application ${name}`,
    publisher: 'Their publisher',
    operator: 'The operator',
  };
  const actor = actors[by as keyof typeof actors] ?? 'The operator';
  const versions = count === '1' ? '1 version' : `${count} versions`;
  return {
    subject: `${versions} withdrawn in ${oneLine(app)}`,
    paragraphs: [
      `${actor} withdrew ${versions} of ${to === 'owner' ? '' : 'your '}plugins in the application ${name}.`,
      ...why,
      ...(to === 'publisher' ? ['If a token of yours was stolen, revoke it, and change your password.'] : []),
    ],
  };
}

/** The user of a mail, unless the account is suspended or deleted. */
async function activeOwner(tx: Transaction, { userId }: MailRecord) {
  const user = userId === null ? undefined : await tx.user(userId);
  return user?.deletedAtMs === null && user.suspendedAtMs === null ? user : undefined;
}

/** The user of a mail, if the address is still the user's. */
async function activeUser(tx: Transaction, mail: MailRecord) {
  const user = await activeOwner(tx, mail);
  return user?.email === mail.recipient ? user : undefined;
}

function codeFields({ recipient, userId, invitationId }: MailRecord) {
  return { recipient, userId, invitationId, notice: null };
}

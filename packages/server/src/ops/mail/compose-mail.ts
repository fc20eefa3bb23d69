import { findSendableInvitation } from '../../apps/invitations.ts';
import { hashSecret, makeCode } from '../../auth/secrets.ts';
import type { MailRecord } from '../../db/mail-records.ts';
import type { Transaction } from '../../db/store.ts';
import type { Deps } from '../../deps.ts';
import { type MailText, oneLine } from '../../mail/mail-text.ts';
import type { Addresses } from '../../services.ts';
import type { ComposeMail } from './send-mails.ts';

type ComposeDeps = Pick<Deps, 'clock' | 'random'>;

/** Returns the texts of mails. The secrets of their links are created here, so that the queue contains none. */
export function createMailComposer(deps: ComposeDeps, addresses: Addresses): ComposeMail {
  const composers: Readonly<Record<MailRecord['kind'], ComposeMail>> = {
    invitation: (tx, mail) => composeInvitation(deps, addresses.base(), tx, mail),
  };
  return (tx, mail) => composers[mail.kind](tx, mail);
}

async function composeInvitation(
  { clock, random }: ComposeDeps,
  baseUrl: string,
  tx: Transaction,
  { invitationId }: MailRecord,
): Promise<MailText | undefined> {
  const found = invitationId === null ? undefined : await findSendableInvitation(tx, invitationId, clock());
  if (found === undefined) return undefined;
  const { invitation, app } = found;
  const code = makeCode(random);
  await tx.insertMailedCode(hashSecret(code), invitation.id);
  const appName = oneLine(app.name);
  const inviter = invitation.role === null ? undefined : await tx.user(invitation.createdBy);
  const until = new Date(invitation.expiresAtMs).toISOString().slice(0, 16).replace('T', ' ');
  return {
    subject: `Invitation to ${appName}`,
    paragraphs: [
      invitation.role === null
        ? `You are invited to publish plugins for the application “${appName}”.`
        : `${oneLine(inviter?.name ?? 'A member')} invites you to the team of the application “${appName}”, as ${invitation.role}.`,
    ],
    action: { label: 'View the invitation', url: `${baseUrl}/accept-invite?code=${code}` },
    notes: [
      `The link works until ${until} UTC. Don't forward it: everyone who has it can accept the invitation.`,
      'If you did not expect this invitation, ignore this mail.',
    ],
  };
}

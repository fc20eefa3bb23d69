import type { Invitation, InvitationLink, MemberInvitation } from '@tenon/protocol';
import { type Command, Option } from 'commander';
import type { Session } from './session.ts';
import { printable } from './text.ts';

/** The notes that an invitation has for the team that makes it. */
export interface InvitationNotes {
  readonly name?: string;
  readonly email?: string;
  readonly delivery?: 'link' | 'email';
}

/** Adds `--name`, `--email`, and `--delivery`. */
export function withNotes(command: Command): Command {
  return command
    .option('--name <name>', 'a note for your team: who is invited')
    .option(
      '--email <email>',
      'the e-mail address of the invited person: a note for your team, unless the link is mailed',
    )
    .addOption(deliveryOption('email: the server also mails a link to --email, if it can send mail'));
}

export function deliveryOption(help: string): Option {
  return new Option('--delivery <method>', help).choices(['link', 'email']).default('link');
}

/** Writes the link of a new invitation. */
export function writeLink(
  out: Session['out'],
  invited: InvitationLink,
  whom: string,
  { delivery, email }: InvitationNotes,
): void {
  if (delivery === 'email') out.note(`The server is sending a mail to ${printable(email ?? '')}. This link works too:`);
  else out.note(`Send this link to the ${whom}. It works once, and is shown only once:`);
  out.result(invited, () => out.write(`${printable(invited.link)}\n`));
}

/** The notes of an invitation in a list. */
export function notesOf({ name, email }: Invitation | MemberInvitation): string {
  return printable([name, email].filter(Boolean).join(', ')) || '-';
}

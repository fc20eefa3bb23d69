import type { Invitation, InvitationLink, MemberInvitation } from '@tenon/protocol';
import type { Command } from 'commander';
import type { Session } from './session.ts';
import { printable } from './text.ts';

/** The notes that an invitation has for the team that makes it. */
export interface InvitationNotes {
  readonly name?: string;
  readonly email?: string;
}

/** Adds `--name` and `--email`. */
export function withNotes(command: Command): Command {
  return command
    .option('--name <name>', 'a note for your team: who is invited')
    .option('--email <email>', 'a note for your team: the e-mail address of the invited person (nothing is sent)');
}

/** Writes the link of a new invitation. */
export function writeLink(out: Session['out'], invited: InvitationLink, whom: string): void {
  out.note(`Send this link to the ${whom}. It works once, and is shown only once:`);
  out.result(invited, () => out.write(`${printable(invited.link)}\n`));
}

/** The notes of an invitation in a list. */
export function notesOf({ name, email }: Invitation | MemberInvitation): string {
  return printable([name, email].filter(Boolean).join(', ')) || '-';
}

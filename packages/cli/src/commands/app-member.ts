import {
  invitationLink,
  type Member,
  type MemberInvitation,
  type MemberRole,
  memberInvitation as memberInvitationSchema,
  member as memberSchema,
} from '@tenon/protocol';
import { Argument, type Command } from 'commander';
import { path } from '../api.ts';
import { examples, withConfirmation, withServer } from '../command.ts';
import { confirm } from '../confirm.ts';
import { type InvitationNotes, notesOf, withNotes, writeLink } from '../invitations.ts';
import type { Io } from '../io.ts';
import { type ListOptions, readList, withLimit } from '../listing.ts';
import { resolveApp, resolveMember } from '../resolve.ts';
import { calling, type Session } from '../session.ts';
import { formatTime, printable } from '../text.ts';

/** What the argument of commands about an application takes. */
export const appHelp = 'its id, or its name where that is unique';
const userHelp = "the user's id, or their name where that is unique in the team";

const roleArgument = () => new Argument('<role>').choices(['owner', 'admin', 'viewer']);

/** Adds `app member …` and `app leave`. */
export function addMemberCommands(parent: Command, io: Io): void {
  const group = parent.command('member').description('the team of an application');

  withServer(
    withLimit(group.command('list').argument('[app]', appHelp).description('list the members of an application')),
  )
    .addHelpText('after', examples('tenon app member list app_01j29hxk3mfpq8ad68ha6hbsex'))
    .action(calling(io, listMembers));

  withServer(
    withNotes(group.command('invite').argument('<app>', appHelp).addArgument(roleArgument())).description(
      'make an invitation to the team, and write its link',
    ),
  )
    .addHelpText('after', examples('tenon app member invite app_01j29hxk3… admin --name Ada'))
    .action(calling(io, inviteMember));

  withServer(
    withLimit(group.command('invitations').argument('[app]', appHelp).description('list the invitations to the team')),
  )
    .addHelpText('after', examples('tenon app member invitations app_01j29hxk3…'))
    .action(calling(io, listInvitations));

  withServer(
    group
      .command('set')
      .argument('<app>', appHelp)
      .argument('<user>', userHelp)
      .addArgument(roleArgument())
      .description("change a member's role"),
  )
    .addHelpText('after', examples('tenon app member set app_01j29hxk3… usr_01j29hyr4… admin'))
    .action(calling(io, setMember));

  withServer(
    withConfirmation(
      group
        .command('remove')
        .argument('<app>', appHelp)
        .argument('<user>', userHelp)
        .option('--with-guests', 'take the guests that they hold in the application from them too')
        .description('take a user off an application, and revoke the invitations that they made'),
    ),
  )
    .addHelpText('after', examples('tenon app member remove app_01j29hxk3… usr_01j29hyr4…'))
    .action(calling(io, removeMember));

  withServer(
    withConfirmation(parent.command('leave').argument('<app>', appHelp).description("leave an application's team")),
  )
    .addHelpText('after', examples('tenon app leave app_01j29hxk3…'))
    .action(calling(io, leaveTeam));
}

async function listMembers(session: Session, options: ListOptions, named: string | undefined): Promise<void> {
  const { out } = session;
  const id = await resolveApp(session, named);
  const members = await readList(session, options, path`/api/v1/apps/${id}/members`, memberSchema);
  out.result(members, () =>
    out.table(
      ['NAME', 'USER', 'ROLE', 'SINCE'],
      members.map((member: Member) => [
        printable(member.name),
        member.userId,
        member.role,
        formatTime(member.createdAt),
      ]),
      'It has no members.',
    ),
  );
}

async function inviteMember(
  session: Session,
  { name, email }: InvitationNotes,
  app: string,
  role: MemberRole,
): Promise<void> {
  const { api, out } = session;
  const id = await resolveApp(session, app);
  const invited = await api.send('POST', path`/api/v1/apps/${id}/members`, { role, name, email }, invitationLink);
  writeLink(out, invited, `new ${role}`);
}

async function listInvitations(session: Session, options: ListOptions, named: string | undefined): Promise<void> {
  const { out } = session;
  const invitations = path`/api/v1/apps/${await resolveApp(session, named)}/members/invitations`;
  const found = await readList(session, options, invitations, memberInvitationSchema);
  out.result(found, () =>
    out.table(
      ['ROLE', 'ID', 'STATUS', 'FOR', 'INVITED BY', 'EXPIRES'],
      found.map((invitation: MemberInvitation) => [
        invitation.role,
        invitation.id,
        invitation.status,
        notesOf(invitation),
        printable(invitation.invitedBy.name),
        formatTime(invitation.expiresAt),
      ]),
      'There are no invitations to the team. Make one with `tenon app member invite <app> <role>`.',
    ),
  );
}

async function setMember(session: Session, _: object, app: string, who: string, role: MemberRole): Promise<void> {
  const { api, out } = session;
  const id = await resolveApp(session, app);
  const user = await resolveMember(session, id, who);
  const member = await api.send('PUT', path`/api/v1/apps/${id}/members/${user}`, { role }, memberSchema);
  out.result(member, () => out.note(`"${printable(member.name)}" (${member.userId}) is ${member.role} now.`));
}

async function removeMember(
  session: Session,
  options: { yes?: boolean; withGuests?: boolean },
  app: string,
  who: string,
): Promise<void> {
  const { api, io, out } = session;
  const id = await resolveApp(session, app);
  const user = await resolveMember(session, id, who);
  const members = await api.list(path`/api/v1/apps/${id}/members`, memberSchema);
  const member = members.find(({ userId }) => userId === user);
  const guests = member?.guestIds ?? [];
  const { withGuests = false } = options;
  const held = guests.join(', ') + (member?.hasMoreGuests === true ? ' and more' : '');
  const fate = withGuests ? 'are taken from them too' : 'stay theirs: --with-guests takes them';
  const also = guests.length === 0 ? '' : ` The guests that they hold (${held}) ${fate}.`;
  await confirm(io, `The user ${user} will be taken off the application.${also}`, options);
  await api.remove(path`/api/v1/apps/${id}/members/${user}` + (withGuests ? '?guests=remove' : ''));
  out.result({ removed: user }, () => out.note(`Took ${user} off the application.`));
  if (guests.length > 0 && !withGuests) out.note(`They still hold the guests ${held}.`);
}

async function leaveTeam(session: Session, options: { yes?: boolean }, app: string): Promise<void> {
  const { api, io, out } = session;
  const id = await resolveApp(session, app);
  await confirm(io, `You will leave the team of ${id}.`, options);
  await api.remove(path`/api/v1/apps/${id}/membership`);
  out.result({ left: id }, () => out.note(`You left the team of ${id}.`));
}

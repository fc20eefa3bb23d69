import {
  invitationLink,
  type MemberRole,
  memberInvitation as memberInvitationSchema,
  member as memberSchema,
} from '@tenon/protocol';
import { Argument } from 'commander';
import { path } from '../api.ts';
import { type Command, withApp, withConfirmation, withServer } from '../command.ts';
import { confirm } from '../confirm.ts';
import { type InvitationNotes, notesOf, withNotes, writeLink } from '../invitations.ts';
import type { Io } from '../io.ts';
import { type ListOptions, showList, withLimit } from '../listing.ts';
import { resolveApp, resolveMember, resolveNamedApp } from '../resolve.ts';
import { calling, type Session } from '../session.ts';
import { formatTime, printable } from '../text.ts';

interface AppOptions {
  readonly app?: string;
}

const userHelp = "the user's id, or their name where that is unique in the team";

const roleArgument = () => new Argument('<role>').choices(['owner', 'admin', 'viewer']);

/** Adds `app member …` and `app leave`. */
export function addMemberCommands(parent: Command, io: Io): void {
  const group = parent.command('member').description('the team of an application');

  group
    .command('list')
    .description('list the members of an application')
    .use(withApp, withLimit, withServer)
    .examples('tenon app member list')
    .action(calling(io, listMembers));

  group
    .command('invite')
    .addArgument(roleArgument())
    .description('create an invitation to the team, and write its link')
    .use(withNotes, withApp, withServer)
    .examples('tenon app member invite admin --name Ada')
    .action(calling(io, inviteMember));

  group
    .command('invitations')
    .description('list the invitations to the team')
    .use(withApp, withLimit, withServer)
    .examples('tenon app member invitations')
    .action(calling(io, listInvitations));

  group
    .command('set')
    .argument('<user>', userHelp)
    .addArgument(roleArgument())
    .description("change a member's role")
    .use(withApp, withServer)
    .examples('tenon app member set usr_01j29hyr4… admin')
    .action(calling(io, setMember));

  group
    .command('remove')
    .argument('<user>', userHelp)
    .option('--with-guests', 'also remove the user from the guests that they hold in the application')
    .description('remove a user from the team, and revoke the invitations that they made')
    .use(withApp, withConfirmation, withServer)
    .examples('tenon app member remove usr_01j29hyr4…')
    .action(calling(io, removeMember));

  parent
    .command('leave')
    .description("leave an application's team")
    .use(withApp, withConfirmation, withServer)
    .examples('tenon app leave --app app_01j29hxk3…')
    .action(calling(io, leaveTeam));
}

async function listMembers(session: Session, options: ListOptions & AppOptions): Promise<void> {
  const id = await resolveApp(session, options.app);
  await showList(session, options, path`/api/v1/apps/${id}/members`, memberSchema, {
    headings: ['NAME', 'USER', 'ROLE', 'SINCE'],
    row: (member) => [member.name, member.userId, member.role, formatTime(member.createdAt)],
    whenEmpty: 'It has no members.',
  });
}

async function inviteMember(session: Session, options: InvitationNotes & AppOptions, role: MemberRole): Promise<void> {
  const { api, out } = session;
  const { app, name, email, delivery } = options;
  const id = await resolveApp(session, app);
  const body = { deliveryMethod: delivery, role, name, email };
  const invited = await api.send('POST', path`/api/v1/apps/${id}/members`, body, invitationLink);
  writeLink(out, invited, `new ${role}`, options);
}

async function listInvitations(session: Session, options: ListOptions & AppOptions): Promise<void> {
  const invitations = path`/api/v1/apps/${await resolveApp(session, options.app)}/members/invitations`;
  await showList(session, options, invitations, memberInvitationSchema, {
    headings: ['ROLE', 'ID', 'STATUS', 'FOR', 'INVITED BY', 'EXPIRES'],
    row: (invitation) => [
      invitation.role,
      invitation.id,
      invitation.status,
      notesOf(invitation),
      invitation.invitedBy.name,
      formatTime(invitation.expiresAt),
    ],
    whenEmpty: 'There are no invitations to the team. Make one with `tenon app member invite <role>`.',
  });
}

async function setMember(session: Session, { app }: AppOptions, who: string, role: MemberRole): Promise<void> {
  const { api, out } = session;
  const id = await resolveApp(session, app);
  const user = await resolveMember(session, id, who);
  const member = await api.send('PUT', path`/api/v1/apps/${id}/members/${user}`, { role }, memberSchema);
  out.result(member, () => out.note(`"${printable(member.name)}" (${member.userId}) is ${member.role} now.`));
}

async function removeMember(
  session: Session,
  options: AppOptions & { yes?: boolean; withGuests?: boolean },
  who: string,
): Promise<void> {
  const { api, io, out } = session;
  const id = await resolveApp(session, options.app);
  const user = await resolveMember(session, id, who);
  const members = await api.list(path`/api/v1/apps/${id}/members`, memberSchema);
  const member = members.find(({ userId }) => userId === user);
  const guests = member?.guestIds ?? [];
  const { withGuests = false } = options;
  const held = guests.join(', ') + (member?.hasMoreGuests === true ? ' and more' : '');
  const fate = withGuests ? 'are removed from them too' : 'stay theirs: --with-guests removes them';
  const also = guests.length === 0 ? '' : ` The guests that they hold (${held}) ${fate}.`;
  await confirm(io, `The user ${user} will be removed from the team.${also}`, options);
  await api.remove(path`/api/v1/apps/${id}/members/${user}` + (withGuests ? '?guests=remove' : ''));
  out.result({ removed: user }, () => out.note(`Removed ${user} from the team.`));
  if (guests.length > 0 && !withGuests) out.note(`They still hold the guests ${held}.`);
}

async function leaveTeam(session: Session, options: AppOptions & { yes?: boolean }): Promise<void> {
  const { api, io, out } = session;
  const id = await resolveNamedApp(session, options.app);
  await confirm(io, `You will leave the team of ${id}.`, options);
  await api.remove(path`/api/v1/apps/${id}/membership`);
  out.result({ left: id }, () => out.note(`You left the team of ${id}.`));
}

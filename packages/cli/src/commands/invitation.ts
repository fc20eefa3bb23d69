import { type InvitationSettled, invitation as invitationSchema, invitationSettled } from '@tenon/protocol';
import { path } from '../api.ts';
import { type Command, withApp, withConfirmation, withServer } from '../command.ts';
import { confirm } from '../confirm.ts';
import { usageError } from '../errors.ts';
import { notesOf } from '../invitations.ts';
import type { Io } from '../io.ts';
import { type ListOptions, showList, withLimit } from '../listing.ts';
import { resolveApp } from '../resolve.ts';
import { calling, type Session } from '../session.ts';
import { formatTime, printable } from '../text.ts';

export function addInvitationCommands(program: Command, io: Io): void {
  const group = program.command('invitation').description('invitations of an application, and those you received');

  group
    .command('list')
    .description('list the invitations that an application made')
    .use(withApp, withLimit, withServer)
    .examples('tenon invitation list')
    .action(calling(io, listInvitations));

  group
    .command('revoke')
    .argument('<invitation>', 'its id, inv_…')
    .description('revoke a pending invitation: its link stops working')
    .use(withApp, withConfirmation, withServer)
    .examples('tenon invitation revoke inv_01j29hxk3…')
    .action(calling(io, revokeInvitation));

  for (const [verb, what] of [
    ['accept', 'accept an invitation: you become a guest of the application, or a member of its team'],
    ['decline', 'decline an invitation'],
  ] as const) {
    group
      .command(verb)
      .argument('<link-or-code>', 'the invitation link, or the code at its end')
      .description(what)
      .use(withServer)
      .examples(`tenon invitation ${verb} 'https://plugins.example.org/accept-invite?code=…'`)
      .action(calling(io, (session, _, link: string) => settle(session, verb, link)));
  }
}

async function listInvitations(session: Session, options: ListOptions & { app?: string }): Promise<void> {
  await showList(
    session,
    options,
    path`/api/v1/apps/${await resolveApp(session, options.app)}/invitations`,
    invitationSchema,
    {
      headings: ['GUEST KEY', 'ID', 'STATUS', 'FOR', 'EXPIRES'],
      row: (invitation) => [
        invitation.guestKey,
        invitation.id,
        invitation.status,
        notesOf(invitation),
        formatTime(invitation.expiresAt),
      ],
      whenEmpty: 'There are no invitations. Make one with `tenon guest invite <guest-key>`.',
    },
  );
}

async function revokeInvitation(session: Session, options: { app?: string; yes?: boolean }, id: string): Promise<void> {
  const { api, io, out } = session;
  const invitationPath = path`/api/v1/apps/${await resolveApp(session, options.app)}/invitations/${id}`;
  await confirm(io, `The link of the invitation ${id} will stop working.`, options);
  await api.remove(invitationPath);
  out.result({ revoked: id }, () => out.note(`Revoked ${id}.`));
}

async function settle({ api, out }: Session, verb: 'accept' | 'decline', link: string): Promise<void> {
  const body = { code: invitationCode(link, api.url) };
  const settled = await api.send('POST', `/api/v1/invitations/${verb}`, body, invitationSettled);
  const name = printable(settled.app.name);
  out.result(settled, () =>
    out.note(
      settled.status === 'accepted'
        ? `${joined(settled)} "${name}" (${settled.app.id}).\nIts extension points: tenon extension-point list --app ${settled.app.id}`
        : `Declined the invitation to "${name}".`,
    ),
  );
}

function joined({ role }: InvitationSettled): string {
  return role === undefined ? 'You are a guest of' : `You are on the team, as ${role}, of`;
}

/** A code goes to the server that gave it, and to no other: one that came with another server's link is not sent on. */
function invitationCode(linkOrCode: string, url: string): string {
  if (!linkOrCode.includes('/')) return linkOrCode;
  const link = URL.parse(linkOrCode);
  const code = link?.searchParams.get('code');
  if (link === null || !code) {
    throw usageError(
      'This is not an invitation link.',
      'It looks like https://…/accept-invite?code=…; the code alone will do.',
    );
  }
  const server = `${link.origin}${link.pathname.replace(/\/accept-invite\/?$/, '')}`;
  if (server !== url) {
    throw usageError(
      `The invitation is from ${server}, and this talks to ${url}.`,
      `Name the other server, with a login or a token of yours there: --server ${server}`,
    );
  }
  return code;
}

import {
  type InvitationSettled,
  invitationLink,
  invitation as invitationSchema,
  invitationSettled,
  listOf,
  maxCounted,
  type RenewedInvitation,
  renewedInvitations,
  revokedInvitations,
} from '@tenon/protocol';
import { resultCsvHeader, resultCsvLine } from '@tenon/protocol/invitation-csv';
import { Option } from 'commander';
import type { Static, TSchema } from 'typebox';
import { path } from '../api.ts';
import { type Command, withApp, withConfirmation, withServer } from '../command.ts';
import { confirm } from '../confirm.ts';
import { parseLifetimeDays } from '../duration.ts';
import { usageError } from '../errors.ts';
import { deliveryOption, notesOf, writeLink } from '../invitations.ts';
import type { Io } from '../io.ts';
import { type ListOptions, showList, withLimit } from '../listing.ts';
import { resolveApp } from '../resolve.ts';
import { calling, type Session } from '../session.ts';
import { count, formatTime, printable } from '../text.ts';

const renewalDelivery = deliveryOption('email: the server also mails the links, if invitations have an e-mail address');

export function addInvitationCommands(program: Command, io: Io): void {
  const group = program.command('invitation').description('invitations of an application, and those you received');

  group
    .command('list')
    .description('list the invitations that an application made')
    .use(withApp, withLimit, withServer)
    .examples('tenon invitation list')
    .action(calling(io, listInvitations));

  for (const [verb, what, change] of [
    ['renew', 'give an invitation a new link; the previous link stops working', renewInvitations],
    ['revoke', 'revoke an invitation: its link stops working', revokeInvitations],
  ] as const) {
    group
      .command(verb)
      .argument('[invitation]', 'its id, inv_…')
      .addOption(new Option('--all <state>', 'all guest invitations in this state').choices(['pending', 'expired']))
      .option('--older-than <duration>', 'with --all, only those that are at least this old', parseLifetimeDays)
      .description(what)
      .use(
        (command) => (verb === 'renew' ? command.addOption(renewalDelivery) : command),
        withApp,
        withConfirmation,
        withServer,
      )
      .examples(`tenon invitation ${verb} inv_01j29hxk3…`, `tenon invitation ${verb} --all pending --older-than 14d`)
      .action(calling(io, change));
  }

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

interface SelectionOptions {
  readonly app?: string;
  readonly yes?: boolean;
  readonly all?: 'pending' | 'expired';
  /** In days. */
  readonly olderThan?: number;
  readonly delivery?: 'link' | 'email';
}

async function revokeInvitations(session: Session, options: SelectionOptions, id?: string): Promise<void> {
  const { api, io, out } = session;
  const invitations = path`/api/v1/apps/${await resolveApp(session, options.app)}/invitations`;
  if (isOne(options, id)) {
    await confirm(io, `The link of the invitation ${id} will stop working.`, options);
    await api.remove(invitations + path`/${id}`);
    return out.result({ revoked: id }, () => out.note(`Revoked ${id}.`));
  }
  await confirm(io, `The links of ${await countSelected(session, invitations, options)} will stop working.`, options);
  let revoked = 0;
  for await (const batch of batchesOf(session, `${invitations}/revoke`, options, revokedInvitations)) {
    revoked += batch.revoked;
  }
  out.result({ revoked }, () => out.note(`Revoked ${count(revoked, 'invitation')}.`));
}

async function renewInvitations(session: Session, options: SelectionOptions, id?: string): Promise<void> {
  const { api, io, out } = session;
  const invitations = path`/api/v1/apps/${await resolveApp(session, options.app)}/invitations`;
  if (isOne(options, id)) {
    await confirm(io, `The link of the invitation ${id} will stop working. There will be a new one.`, options);
    const renewed = await api.send(
      'POST',
      invitations + path`/${id}/renew`,
      { deliveryMethod: options.delivery },
      invitationLink,
    );
    return writeLink(out, renewed, 'invited person', {});
  }
  const selected = await countSelected(session, invitations, options);
  await confirm(io, `The links of ${selected} will stop working. There will be new ones.`, options);
  const request = { ...options, deliveryMethod: options.delivery };
  const renewed: RenewedInvitation[] = [];
  if (!out.isJson) out.write(resultCsvHeader.replaceAll('\r', ''));
  try {
    for await (const { objects } of batchesOf(session, `${invitations}/renew`, request, renewedInvitations)) {
      renewed.push(...objects);
      if (out.isJson) continue;
      for (const { guestKey, name, email, link, expiresAt } of objects) {
        const row = { guestKey, name: name ?? '', email: email ?? '' };
        out.write(resultCsvLine(row, { guestKey, outcome: 'renewed', link, expiresAt }).replaceAll('\r', ''));
      }
    }
  } finally {
    out.result(renewed, () =>
      out.note(`Renewed ${count(renewed.length, 'invitation')}.${mailedNote(renewed)} The links are shown only once.`),
    );
  }
}

function mailedNote(renewed: readonly RenewedInvitation[]): string {
  const mailed = renewed.filter(({ isMailed }) => isMailed).length;
  return mailed === 0 ? '' : ` ${count(mailed, 'link')} mailed.`;
}

/** Whether one invitation is meant. @throws CliError for neither or both of an id and `--all` */
function isOne({ all, olderThan }: SelectionOptions, id: string | undefined): id is string {
  if ((id === undefined) === (all === undefined)) throw usageError('It takes either an invitation or --all.');
  if (id !== undefined && olderThan !== undefined) throw usageError('--older-than needs --all.');
  return id !== undefined;
}

async function countSelected({ api }: Session, invitations: string, options: SelectionOptions): Promise<string> {
  const { all = '', olderThan } = options;
  const query = new URLSearchParams({ status: all, limit: '1' });
  if (olderThan !== undefined) query.set('olderThanDays', String(olderThan));
  const { total = 0 } = await api.get(`${invitations}?${query}`, listOf(invitationSchema));
  return total > maxCounted ? `more than ${maxCounted} invitations` : count(total, 'invitation');
}

/** The responses of the requests that change all selected invitations. */
async function* batchesOf<T extends TSchema>(
  { api }: Session,
  path: string,
  { all, olderThan, deliveryMethod }: SelectionOptions & { readonly deliveryMethod?: string | undefined },
  schema: T,
): AsyncGenerator<Static<T>> {
  for (let cursor: string | undefined; ; ) {
    const filter = { status: all, olderThanDays: olderThan };
    const batch = await api.send('POST', path, { deliveryMethod, filter, cursor }, schema);
    yield batch;
    cursor = (batch as { nextCursor?: string }).nextCursor;
    if (cursor === undefined) return;
  }
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

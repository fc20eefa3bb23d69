import { type Guest, guest as guestSchema, invitationLink } from '@tenon/protocol';
import { path } from '../api.ts';
import { type Command, withApp, withConfirmation, withServer } from '../command.ts';
import { confirm } from '../confirm.ts';
import { usageError } from '../errors.ts';
import { type InvitationNotes, withNotes, writeLink } from '../invitations.ts';
import type { Io } from '../io.ts';
import { type ListOptions, showList, withLimit } from '../listing.ts';
import { resolveApp, resolveGuest } from '../resolve.ts';
import { calling, type Session } from '../session.ts';
import { count, formatTime, printable } from '../text.ts';
import { inviteFromCsv } from './guest-csv.ts';

/** The team's texts about a guest. */
interface GuestTexts {
  readonly label?: string;
  readonly note?: string;
}

/** Adds `--label` and `--note`. */
function withTexts(command: Command): Command {
  return command
    .option('--label <label>', 'distinguishes the guest from others; guests see it')
    .option('--note <note>', 'for your team; guests never see it');
}

export function addGuestCommands(program: Command, io: Io): void {
  const group = program
    .command('guest')
    .description('guests: plugin developers, identified in an application by a guest key');

  group
    .command('invite')
    .argument('[guest-key]', "the application's name for the guest; guests never see it")
    .option(
      '--csv <file>',
      'invite the guests of this file (guestKey,name,email,label,note), and write the links as CSV; "-" is stdin',
    )
    .option('--renew', 'with --csv, also give new links to people who have a pending invitation')
    .description('create an invitation, and write its link; or many, from a file')
    .use(withNotes, withTexts, withApp, withServer)
    .examples(
      'tenon guest invite acme',
      'tenon guest invite customers/42 --label "Acme Inc." --name Grace --json',
      'tenon guest invite --csv guests.csv > links.csv',
    )
    .action(calling(io, invite));

  group
    .command('list')
    .description('list the guests of an application')
    .use(withApp, withLimit, withServer)
    .examples('tenon guest list')
    .action(calling(io, listGuests));

  group
    .command('set')
    .argument('<guest>', 'its guest key, or its id')
    .option('--ring <ring>', 'the group that steps of roll-outs name, such as staff; guests never see it')
    .description("change a guest's label, note, and ring; an empty text removes one")
    .use(withTexts, withApp, withServer)
    .examples(
      'tenon guest set customers/42 --label "Acme Inc."',
      'tenon guest set customers/42 --note ""',
      'tenon guest set customers/42 --ring staff',
    )
    .action(calling(io, setGuest));

  group
    .command('remove')
    .argument('<guest>', 'its guest key, or its id')
    .option('--user <user>', 'remove only this user from the guest')
    .description('remove a guest: its invitations stop working and its plugins are unbound at once')
    .use(withApp, withConfirmation, withServer)
    .examples('tenon guest remove customers/42', 'tenon guest remove customers/42 --user usr_01j29hyr4…')
    .action(calling(io, removeGuest));
}

async function invite(
  session: Session,
  options: InvitationNotes & GuestTexts & { app?: string; csv?: string; renew?: true },
  guestKey?: string,
): Promise<void> {
  const { api, out } = session;
  const app = await resolveApp(session, options.app);
  const { name, email, delivery, label, note, csv, renew } = options;
  if ((csv === undefined) === (guestKey === undefined)) {
    throw usageError('It takes either a guest key or --csv.', 'As in: tenon guest invite customers/42');
  }
  if (csv !== undefined) return inviteFromCsv(session, app, csv, { renews: renew === true, deliveryMethod: delivery });
  if (renew) throw usageError('--renew needs --csv.', 'To renew one invitation: tenon invitation renew <invitation>');
  const body = { deliveryMethod: delivery, guestKey, name, email, label, note };
  writeLink(out, await api.send('POST', path`/api/v1/apps/${app}/guests`, body, invitationLink), 'guest', options);
}

async function listGuests(session: Session, options: ListOptions & { app?: string }): Promise<void> {
  await showList(session, options, path`/api/v1/apps/${await resolveApp(session, options.app)}/guests`, guestSchema, {
    headings: ['GUEST KEY', 'LABEL', 'RING', 'ID', 'HELD BY', 'CREATED'],
    row: (guest) => [
      guest.guestKey,
      guest.label ?? '-',
      guest.ring ?? '-',
      guest.id,
      holders(guest),
      formatTime(guest.createdAt),
    ],
    whenEmpty: 'There are no guests yet. Invite a guest with `tenon guest invite <guest-key>`.',
  });
}

function holders({ users }: Guest): string {
  const [first] = users;
  if (first === undefined) return 'no user yet';
  const others = users.length > 1 ? ` and ${count(users.length - 1, 'other')}` : '';
  return `${printable(first.name)} (${first.userId})${others}`;
}

async function setGuest(
  session: Session,
  options: GuestTexts & { app?: string; ring?: string },
  named: string,
): Promise<void> {
  const { api, out } = session;
  const { label, note, ring } = options;
  if (label === undefined && note === undefined && ring === undefined)
    throw usageError('There is nothing to change.', 'Add --label, --note, or --ring.');
  const app = await resolveApp(session, options.app);
  const id = await resolveGuest(session, app, named);
  const body = { label: label === '' ? null : label, note: note === '' ? null : note, ring: ring === '' ? null : ring };
  const guest = await api.send('PUT', path`/api/v1/apps/${app}/guests/${id}`, body, guestSchema);
  out.result(guest, () => out.note(`Changed the guest "${printable(guest.guestKey)}".`));
}

async function removeGuest(
  session: Session,
  options: { app?: string; user?: string; yes?: boolean },
  named: string,
): Promise<void> {
  const { api, io, out } = session;
  const app = await resolveApp(session, options.app);
  const id = await resolveGuest(session, app, named);
  const guestPath = path`/api/v1/apps/${app}/guests/${id}`;
  const { guestKey } = await api.get(guestPath, guestSchema);
  const { user } = options;
  const whose = user === undefined ? 'will be removed, and its plugins' : `will be taken from ${user}, whose plugins`;
  await confirm(io, `The guest "${printable(guestKey)}" ${whose} will be unbound at once.`, options);
  await api.remove(user === undefined ? guestPath : guestPath + path`/users/${user}`);
  out.result({ removed: user ?? id }, () => out.note(`Removed ${user ?? `the guest "${printable(guestKey)}"`}.`));
}

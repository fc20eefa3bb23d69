import { type App, app as appSchema, type HeldGuest } from '@tenon/protocol';
import { path } from '../api.ts';
import { type Command, withApp, withConfirmation, withServer } from '../command.ts';
import { confirm } from '../confirm.ts';
import type { Io } from '../io.ts';
import { type ListOptions, showList, withLimit } from '../listing.ts';
import { resolveApp, resolveNamedApp } from '../resolve.ts';
import { calling, type Session } from '../session.ts';
import { formatTime, printable } from '../text.ts';
import { addAuditCommand } from './app-audit.ts';
import { addMemberCommands } from './app-member.ts';
import { addPublisherCommands } from './app-publisher.ts';
import { addAppYankCommands } from './mass-yank.ts';
import { addApprovalsCommand } from './plugin-control.ts';

interface AppOptions {
  readonly app?: string;
}

export function addAppCommands(program: Command, io: Io): void {
  const group = program.command('app').description('applications, which own extension points and invite guests');

  group
    .command('list')
    .description('list the applications that you can see')
    .use(withLimit, withServer)
    .examples('tenon app list', "tenon app list --json | jq -r '.[].id'")
    .action(calling(io, listApps));

  group
    .command('create')
    .argument('<name>')
    .description('create an application; you become its owner')
    .use(withServer)
    .examples('tenon app create "Acme Editor"', 'export TENON_APP_ID=$(tenon app create "Acme Editor")')
    .action(calling(io, createApp));

  group
    .command('show')
    .description('show one application')
    .use(withApp, withServer)
    .examples('tenon app show', 'tenon app show --app "Acme Editor"')
    .action(
      calling(io, async (session, options: AppOptions) => {
        const id = await resolveApp(session, options.app);
        showApp(session.out, await session.api.get(path`/api/v1/apps/${id}`, appSchema));
      }),
    );

  group
    .command('rename')
    .argument('<name>', 'the new name')
    .description('rename an application')
    .use(withApp, withServer)
    .examples('tenon app rename "Acme Studio" --app app_01j29hxk3…')
    .action(calling(io, renameApp));

  group
    .command('require-passkeys')
    .option('--off', 'stop requiring passkeys')
    .description('refuse sessions and tokens of members without a passkey, for owners with a passkey')
    .use(withApp, withServer)
    .examples('tenon app require-passkeys', 'tenon app require-passkeys --off --app app_01j29hxk3…')
    .action(calling(io, requirePasskeys));

  group
    .command('delete')
    .description('delete an application with its extension points, guests and plugins')
    .use(withApp, withConfirmation, withServer)
    .examples('tenon app delete --app app_01j29hxk3…')
    .action(calling(io, deleteApp));

  addApprovalsCommand(group, io);
  addPublisherCommands(group, io);
  addAppYankCommands(group, io);
  addMemberCommands(group, io);
  addAuditCommand(group, io);
}

async function listApps(session: Session, options: ListOptions): Promise<void> {
  await showList(session, options, '/api/v1/apps', appSchema, {
    headings: ['NAME', 'ID', 'YOU ARE', 'CREATED'],
    row: (app) => [app.name, app.id, app.role, formatTime(app.createdAt)],
    whenEmpty: 'You see no application yet. Make one with `tenon app create <name>`, or accept an invitation to one.',
  });
}

async function createApp({ api, out }: Session, _: object, name: string): Promise<void> {
  const app = await api.send('POST', '/api/v1/apps', { name }, appSchema);
  out.note(`Created the application "${printable(app.name)}". Its id:`);
  out.result(app, () => out.write(`${app.id}\n`));
}

async function renameApp(session: Session, options: AppOptions, name: string): Promise<void> {
  const { api, out } = session;
  const id = await resolveApp(session, options.app);
  const app = await api.send('PUT', path`/api/v1/apps/${id}`, { name }, appSchema);
  out.result(app, () => out.note(`Renamed it to "${printable(app.name)}".`));
}

async function requirePasskeys(session: Session, options: AppOptions & { off?: boolean }): Promise<void> {
  const { api, out } = session;
  const id = await resolveApp(session, options.app);
  const requiresPasskey = options.off !== true;
  const app = await api.send('PUT', path`/api/v1/apps/${id}`, { requiresPasskey }, appSchema);
  const text = requiresPasskey ? 'Members need a passkey' : 'Members need no passkey';
  out.result(app, () => out.note(`${text} in "${printable(app.name)}".`));
}

async function deleteApp(session: Session, options: AppOptions & { yes?: boolean }): Promise<void> {
  const { api, io, out } = session;
  const id = await resolveNamedApp(session, options.app);
  const app = await api.get(path`/api/v1/apps/${id}`, appSchema);
  const what = `The application "${printable(app.name)}" will be deleted with its extension points, guests and plugins.`;
  await confirm(io, what, options);
  await api.remove(path`/api/v1/apps/${id}`);
  out.result({ deleted: id }, () => out.note(`Deleted the application "${printable(app.name)}".`));
}

function heldGuestText({ id, label }: HeldGuest): string {
  return label === null ? id : `${printable(label)} (${id})`;
}

function showApp(out: Session['out'], app: App): void {
  out.result(app, () =>
    out.fields([
      ['name', app.name],
      ['id', app.id],
      ['you are', app.role],
      ['requires passkeys', app.requiresPasskey ? 'yes' : 'no'],
      ['guests you hold', app.guests.length === 0 ? 'none' : app.guests.map(heldGuestText)],
      ['created', formatTime(app.createdAt)],
      ['updated', formatTime(app.updatedAt)],
    ]),
  );
}

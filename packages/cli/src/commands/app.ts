import { type App, app as appSchema, type Member, type MemberRole, member as memberSchema } from '@tenon/protocol';
import { Argument, type Command } from 'commander';
import { path } from '../api.ts';
import { examples, withConfirmation, withServer } from '../command.ts';
import { confirm } from '../confirm.ts';
import type { Io } from '../io.ts';
import { calling, type Session } from '../session.ts';
import { formatTime, printable } from '../text.ts';
import { addAuditCommand } from './app-audit.ts';
import { addApprovalsCommand } from './plugin-control.ts';

export function addAppCommands(program: Command, io: Io): void {
  const group = program.command('app').description('applications: they own extension points and invite guests');

  withServer(group.command('list').description('list the applications that you may see'))
    .addHelpText('after', examples('tenon app list', "tenon app list --json | jq -r '.[].id'"))
    .action(calling(io, listApps));

  withServer(group.command('create').argument('<name>').description('make an application; you become its owner'))
    .addHelpText(
      'after',
      examples('tenon app create "Acme Editor"', 'export TENON_APP_ID=$(tenon app create "Acme Editor")'),
    )
    .action(calling(io, createApp));

  withServer(group.command('show').argument('<app>').description('show one application'))
    .addHelpText('after', examples('tenon app show app_01j29hxk3mfpq8ad68ha6hbsex'))
    .action(
      calling(io, async ({ api, out }, _, id: string) =>
        showApp(out, await api.get(path`/api/v1/apps/${id}`, appSchema)),
      ),
    );

  withServer(
    group.command('rename').argument('<app>').argument('<name>').description('give an application another name'),
  )
    .addHelpText('after', examples('tenon app rename app_01j29hxk3mfpq8ad68ha6hbsex "Acme Studio"'))
    .action(calling(io, renameApp));

  withServer(
    withConfirmation(
      group
        .command('delete')
        .argument('<app>')
        .description('delete an application with its extension points, guests and plugins'),
    ),
  )
    .addHelpText('after', examples('tenon app delete app_01j29hxk3mfpq8ad68ha6hbsex'))
    .action(calling(io, deleteApp));

  addApprovalsCommand(group, io);
  addMemberCommands(group, io);
  addAuditCommand(group, io);
}

function addMemberCommands(parent: Command, io: Io): void {
  const group = parent.command('member').description('the team of an application');

  withServer(group.command('list').argument('<app>').description('list the members of an application'))
    .addHelpText('after', examples('tenon app member list app_01j29hxk3mfpq8ad68ha6hbsex'))
    .action(calling(io, listMembers));

  withServer(
    group
      .command('set')
      .argument('<app>')
      .argument('<user>')
      .addArgument(new Argument('<role>').choices(['owner', 'admin', 'viewer']))
      .description("add a user to an application, or change a member's role"),
  )
    .addHelpText('after', examples('tenon app member set app_01j29hxk3… usr_01j29hyr4… admin'))
    .action(calling(io, setMember));

  withServer(
    withConfirmation(
      group.command('remove').argument('<app>').argument('<user>').description('take a user off an application'),
    ),
  )
    .addHelpText('after', examples('tenon app member remove app_01j29hxk3… usr_01j29hyr4…'))
    .action(calling(io, removeMember));
}

async function listApps({ api, out }: Session): Promise<void> {
  const apps = await api.list('/api/v1/apps', appSchema);
  out.result(apps, () =>
    out.table(
      ['NAME', 'ID', 'YOU ARE', 'CREATED'],
      apps.map((app: App) => [printable(app.name), app.id, app.role, formatTime(app.createdAt)]),
      'You see no application yet. Make one with `tenon app create <name>`, or accept an invitation to one.',
    ),
  );
}

async function createApp({ api, out }: Session, _: object, name: string): Promise<void> {
  const app = await api.send('POST', '/api/v1/apps', { name }, appSchema);
  out.note(`Created the application "${printable(app.name)}". Its id:`);
  out.result(app, () => out.write(`${app.id}\n`));
}

async function renameApp({ api, out }: Session, _: object, id: string, name: string): Promise<void> {
  const app = await api.send('PUT', path`/api/v1/apps/${id}`, { name }, appSchema);
  out.result(app, () => out.note(`Renamed it to "${printable(app.name)}".`));
}

async function deleteApp({ api, io, out }: Session, options: { yes?: boolean }, id: string): Promise<void> {
  const app = await api.get(path`/api/v1/apps/${id}`, appSchema);
  const what = `The application "${printable(app.name)}" will be deleted with its extension points, guests and plugins.`;
  await confirm(io, what, options);
  await api.remove(path`/api/v1/apps/${id}`);
  out.result({ deleted: id }, () => out.note(`Deleted the application "${printable(app.name)}".`));
}

async function listMembers({ api, out }: Session, _: object, id: string): Promise<void> {
  const members = await api.list(path`/api/v1/apps/${id}/members`, memberSchema);
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

async function setMember({ api, out }: Session, _: object, id: string, user: string, role: MemberRole): Promise<void> {
  const member = await api.send('PUT', path`/api/v1/apps/${id}/members/${user}`, { role }, memberSchema);
  out.result(member, () => out.note(`"${printable(member.name)}" (${member.userId}) is ${member.role} now.`));
}

async function removeMember(
  { api, io, out }: Session,
  options: { yes?: boolean },
  id: string,
  user: string,
): Promise<void> {
  await confirm(io, `The user ${user} will be taken off the application.`, options);
  await api.remove(path`/api/v1/apps/${id}/members/${user}`);
  out.result({ removed: user }, () => out.note(`Took ${user} off the application.`));
}

function showApp(out: Session['out'], app: App): void {
  out.result(app, () =>
    out.fields([
      ['name', printable(app.name)],
      ['id', app.id],
      ['you are', app.role],
      ['guests you hold', app.guestIds.join('\n') || 'none'],
      ['created', formatTime(app.createdAt)],
      ['updated', formatTime(app.updatedAt)],
    ]),
  );
}

import { blockedPublisher as blockedPublisherSchema } from '@tenon/protocol';
import { path } from '../api.ts';
import { type Command, withApp, withServer } from '../command.ts';
import type { Io } from '../io.ts';
import { type ListOptions, showList, withLimit } from '../listing.ts';
import { resolveApp } from '../resolve.ts';
import { calling, type Session } from '../session.ts';
import { formatTime, printable } from '../text.ts';

interface AppOptions {
  readonly app?: string;
}

/** Adds `app blocked-publishers`, `app block-publisher`, and `app unblock-publisher`. */
export function addPublisherCommands(group: Command, io: Io): void {
  group
    .command('blocked-publishers')
    .description('list the publishers whose plugins the team has blocked')
    .use(withApp, withLimit, withServer)
    .examples('tenon app blocked-publishers')
    .action(calling(io, listBlocked));

  group
    .command('block-publisher')
    .argument('<user>', 'the publisher, usr_…')
    .requiredOption('--reason <text>', 'the reason, shown to the publisher')
    .description('block all plugins of a publisher: they are unbound everywhere, and accept no new version')
    .use(withApp, withServer)
    .examples('tenon app block-publisher usr_01j29hyr4… --reason "The account was taken over"')
    .action(calling(io, block));

  group
    .command('unblock-publisher')
    .argument('<user>', 'the publisher, usr_…')
    .description("undo a publisher's block: their plugins are bound again")
    .use(withApp, withServer)
    .examples('tenon app unblock-publisher usr_01j29hyr4…')
    .action(calling(io, unblock));
}

async function listBlocked(session: Session, options: ListOptions & AppOptions): Promise<void> {
  const id = await resolveApp(session, options.app);
  await showList(session, options, path`/api/v1/apps/${id}/blocked-publishers`, blockedPublisherSchema, {
    headings: ['PUBLISHER', 'ID', 'BLOCKED', 'REASON'],
    row: ({ user, blockedAt, reason }) => [user.name, user.id, formatTime(blockedAt), reason],
    whenEmpty: 'The team has blocked no publisher.',
  });
}

async function block(session: Session, options: AppOptions & { readonly reason: string }, user: string): Promise<void> {
  const { api, out } = session;
  const place = path`/api/v1/apps/${await resolveApp(session, options.app)}/publishers/${user}/block`;
  const blocked = await api.send('PUT', place, { reason: options.reason }, blockedPublisherSchema);
  out.result(blocked, () => out.note(`Blocked all plugins of ${printable(blocked.user.name)}.`));
}

async function unblock(session: Session, options: AppOptions, user: string): Promise<void> {
  const { api, out } = session;
  await api.remove(path`/api/v1/apps/${await resolveApp(session, options.app)}/publishers/${user}/block`);
  out.result({ unblocked: user }, () => out.note(`Unblocked the plugins of ${user}.`));
}

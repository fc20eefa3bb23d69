import {
  type MassYank,
  massYank as massYankSchema,
  type PublishedVersion,
  publishedVersion as publishedVersionSchema,
} from '@tenon/protocol';
import { path } from '../api.ts';
import { parseMoment } from '../audit-options.ts';
import { type Command, withApp, withConfirmation, withServer } from '../command.ts';
import { confirm } from '../confirm.ts';
import { usageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { type ListOptions, showList, withLimit } from '../listing.ts';
import type { Reporter } from '../output.ts';
import { resolveApp } from '../resolve.ts';
import { calling, type Session } from '../session.ts';
import { count, formatTime, printable } from '../text.ts';

/* The response to a stolen credential: list what it published, then yank all of it and revoke the credential. */

/** Which versions a command is about. */
export interface Selection {
  readonly credential?: string;
  readonly trustRule?: string;
  readonly user?: string;
  readonly since?: Date;
}

export interface YankOptions extends Selection {
  readonly reason: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

interface AppChoice {
  readonly app?: string;
}

export const withSelection =
  ({ clockMs }: Pick<Io, 'clockMs'>) =>
  (command: Command): Command => {
    const parse = (text: string): Date => parseMoment(text, clockMs());
    return command
      .option('--credential <id>', 'published with this token or browser session: tok_… or ses_…')
      .option('--trust-rule <id>', 'published with a token of this rule of trusted publishing')
      .option('--user <user>', 'published by this user: usr_…')
      .option('--since <time>', 'published from this time on: 2026-03-01T12:00Z, or a time ago: 12h, 7d', parse);
  };

export function withYank(command: Command): Command {
  return command
    .requiredOption('--reason <text>', 'the reason, shown to the publishers')
    .option('--dry-run', 'show what would be yanked, and change nothing')
    .use(withConfirmation);
}

/** Adds `app published` and `app yank-published`, for the team. */
export function addAppYankCommands(group: Command, io: Io): void {
  group
    .command('published')
    .description('list what a credential, a rule, or a user published in the application')
    .use(withSelection(io), withApp, withLimit, withServer)
    .examples('tenon app published --credential tok_01j29hxk3… --since 7d')
    .action(
      calling(io, async (session, options: Selection & AppChoice & ListOptions) =>
        listPublished(
          session,
          options,
          path`/api/v1/apps/${await resolveApp(session, options.app)}/published-versions`,
        ),
      ),
    );
  group
    .command('yank-published')
    .description('yank all of it, and revoke the credential: the response to a stolen credential')
    .use(withSelection(io), withYank, withApp, withServer)
    .examples(
      'tenon app yank-published --credential tok_01j29hxk3… --reason "The token was stolen" --dry-run',
      'tenon app yank-published --user usr_01j29hyr4… --since 2026-03-01 --reason "Account taken over" --yes',
    )
    .action(
      calling(io, async (session, options: YankOptions & AppChoice) =>
        yankOverApi(session, options, path`/api/v1/apps/${await resolveApp(session, options.app)}/published-versions`),
      ),
    );
}

/** Adds `plugin published` and `plugin yank-published`, for a publisher's own plugins in all applications. */
export function addOwnYankCommands(group: Command, io: Io): void {
  group
    .command('published')
    .description('list what you published, or one of your credentials, in all applications')
    .use(withSelection(io), withLimit, withServer)
    .examples('tenon plugin published --credential tok_01j29hxk3…')
    .action(
      calling(io, (session, options: Selection & ListOptions) =>
        listPublished(session, options, '/api/v1/me/published-versions'),
      ),
    );
  group
    .command('yank-published')
    .description('yank all of it, and revoke the credential: the response to a stolen credential')
    .use(withSelection(io), withYank, withServer)
    .examples('tenon plugin yank-published --credential tok_01j29hxk3… --reason "The CI token was stolen"')
    .action(
      calling(io, (session, options: YankOptions) => yankOverApi(session, options, '/api/v1/me/published-versions')),
    );
}

async function listPublished(session: Session, options: Selection & ListOptions, place: string): Promise<void> {
  const query = new URLSearchParams(fieldsOf(options));
  await showList(session, options, query.size === 0 ? place : `${place}?${query}`, publishedVersionSchema, table);
}

function yankOverApi({ api, io, out }: Session, options: YankOptions, place: string): Promise<void> {
  const body = { ...fieldsOf(options), reason: options.reason };
  return yank(io, out, options, (isDryRun) =>
    api.send('POST', `${place}/yank${isDryRun ? '?dryRun=true' : ''}`, body, massYankSchema),
  );
}

/** Shows what would be yanked, and yanks it after a confirmation. */
export async function yank(
  io: Io,
  out: Reporter,
  options: YankOptions,
  send: (isDryRun: boolean) => Promise<MassYank>,
): Promise<void> {
  const { credential, trustRule, user, dryRun, yes } = options;
  if (credential === undefined && trustRule === undefined && user === undefined) {
    throw usageError('Name a credential, a rule, or a user with --credential, --trust-rule, or --user.');
  }
  if (dryRun || !yes) {
    const planned = await send(true);
    if (dryRun) {
      showVersions(out, planned.versions, planned);
      out.note(`Dry run: would yank ${summary(planned)} Nothing was changed.`);
      return;
    }
    await confirm(io, `This yanks ${summary(planned)}`, { yes });
  }
  const done = await send(false);
  showVersions(out, done.versions, done);
  out.note(`Yanked ${summary(done)}`);
}

function summary({ versionCount, pluginCount, appCount, revoked }: MassYank): string {
  const where = `of ${count(pluginCount, 'plugin')} in ${count(appCount, 'application')}`;
  return `${count(versionCount, 'version')} ${where}, and revokes ${count(revoked.length, 'credential')}.`;
}

const table = {
  headings: ['PLUGIN', 'VERSION', 'STATE', 'PUBLISHED', 'PUBLISHED BY', 'WITH', 'APPLICATION', 'ID'],
  row: ({ name, version, user, app, credentialId, pluginId }: PublishedVersion) => [
    name,
    String(version.number),
    version.state,
    formatTime(version.createdAt),
    printable(user.name),
    credentialId ?? '-',
    printable(app.name),
    pluginId,
  ],
  whenEmpty: 'There is no such version.',
};

export function showVersions(out: Reporter, versions: readonly PublishedVersion[], result: unknown = versions): void {
  out.result(result, () => out.table(table.headings, versions.map(table.row), table.whenEmpty));
}

function fieldsOf({ credential, trustRule, user, since }: Selection): Record<string, string> {
  return {
    ...(credential !== undefined && { credentialId: credential }),
    ...(trustRule !== undefined && { trustRuleId: trustRule }),
    ...(user !== undefined && { userId: user }),
    ...(since !== undefined && { since: since.toISOString() }),
  };
}

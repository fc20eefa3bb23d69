import { displayNamePattern, type TokenScope, type UserId } from '@tenon/protocol';
import {
  type Config,
  type CreatedLink,
  createPasswordLink,
  createSetUpLink,
  createUser,
  type Deps,
  issueApiKey,
  issueToken,
  lifetimeEnd,
  linkUrl,
  readQuickstart,
  tokenLifetimeDays,
} from '@tenon/server';
import { type Command, Option } from 'commander';
import { examples, parseDays, withConfirmation } from '../command.ts';
import { usageError } from '../errors.ts';
import type { Io } from '../io.ts';
import type { Reporter } from '../output.ts';
import { parseScopes, tokenScopes } from '../scopes.ts';
import { formatTime, printable } from '../text.ts';
import { addAdminAuditCommand } from './admin-audit.ts';
import { addCopyCommand } from './admin-copy.ts';
import { type AdminOptions, withData, withDataFolder } from './admin-data.ts';
import { addHousekeepingCommands } from './admin-housekeeping.ts';
import { addOperatorCommands } from './admin-operators.ts';
import { confirmUser } from './admin-user.ts';

const maxNameLength = 200;

export function addAdminCommands(program: Command, io: Io): void {
  const group = program
    .command('admin')
    .description('work on a data folder itself, as the operator of the server; it may be running');

  withLinkOptions(
    group
      .command('create-link')
      .description('make a set-up link, by which whoever opens it makes one account, and write it'),
  )
    .addHelpText(
      'after',
      examples('tenon admin create-link', 'tenon admin create-link --public-url https://tenon.example.org'),
    )
    .action((options: AdminOptions) =>
      withData(io, options, async (deps, out, config) => {
        showLink(out, config, await createSetUpLink(deps, false), 'It makes one account');
      }),
    );

  withLinkOptions(
    withConfirmation(group.command('create-password-link'))
      .argument('<user>', 'whose password it sets: an id, usr_…, or the e-mail address that they sign in with')
      .option('--email <email>', 'what they are to sign in with, when they have nothing yet')
      .description("make a link that sets a user's password, and write it"),
  )
    .addHelpText(
      'after',
      examples(
        'tenon admin create-password-link ada@example.org',
        'tenon admin create-password-link usr_01j29hyr4… --yes',
      ),
    )
    .action((user: string, options: AdminOptions & { email?: string; yes?: boolean }) =>
      withData(io, options, async (deps, out, config) => {
        const what = 'get a new password from the person who opens the link';
        const userId = await confirmUser(io, deps, user, { what, yes: options.yes, needsYes: true });
        const link = await createPasswordLink(deps, userId, options.email);
        showLink(out, config, link, 'It sets the password, once, and ends all sessions of the account');
      }),
    );

  withDataFolder(
    group
      .command('create-user')
      .argument('<name>')
      .option('--email <email>', 'how to reach them')
      .description('make a user without a way to sign in, and write their id'),
  )
    .addHelpText(
      'after',
      examples('tenon admin create-user Ada', 'tenon admin create-token $(tenon admin create-user Ada)'),
    )
    .action((name: string, options: AdminOptions & { email?: string }) =>
      withData(io, options, async (deps, out) => {
        const user = await createUser(deps, { name: assertName(name), email: options.email ?? null });
        const { id, email, createdAtMs } = user;
        out.note(`Created the user "${printable(name)}". Their id:`);
        out.result({ id, name, email, createdAt: isoTime(createdAtMs) }, () => out.write(`${id}\n`));
      }),
    );

  withDataFolder(
    withConfirmation(group.command('create-token'))
      .argument('<user>', 'whose token it is: an id, usr_…, or the e-mail address that they sign in with')
      .option('--name <name>', 'to tell it from others', 'made by the operator')
      .addOption(
        new Option('--scope <scopes>', 'read, publish, manage; several between commas (default: all)').argParser(
          parseScopes,
        ),
      )
      .addOption(
        new Option(
          '--expires-in-days <days>',
          'how long it works (default: 90 with read alone, otherwise 7)',
        ).argParser(parseDays),
      )
      .description('make an access token for a user, and write it'),
  )
    .addHelpText('after', examples('tenon admin create-token usr_01j29hyr4… --scope read --name "host application"'))
    .action((user: string, options: TokenOptions) =>
      withData(io, options, async (deps, out) => {
        const userId = await confirmUser(io, deps, user, { what: 'have a new access token', yes: options.yes });
        await createToken(deps, out, userId, options);
      }),
    );

  withDataFolder(
    withConfirmation(group.command('create-api-key'))
      .argument('<name>', 'to tell it from others')
      .option('--user <user>', 'whose key it is: an id, usr_…, or an e-mail address (default: a new user of that name)')
      .addOption(new Option('--expires-in-days <days>', 'how long it works (default: 90)').argParser(parseDays))
      .description('make an API key for the instrumentation endpoint, and write it'),
  )
    .addHelpText('after', examples('tenon admin create-api-key "build machine"'))
    .action((name: string, options: AdminOptions & ApiKeyOptions) =>
      withData(io, options, (deps, out) => createApiKey(io, deps, out, name, options)),
    );

  addOperatorCommands(group, io);
  addHousekeepingCommands(group, io);
  addCopyCommand(group, io);
  addAdminAuditCommand(group, io);
}

function withLinkOptions(command: Command): Command {
  return withDataFolder(command).option(
    '--public-url <url>',
    'what people reach the server under (default: TENON_PUBLIC_URL, else what it was when it last started)',
  );
}

function showLink(out: Reporter, { publicUrl, dataDir }: Config, made: CreatedLink, what: string): void {
  const url = publicUrl ?? readQuickstart(dataDir).get('TENON_URL') ?? 'http://localhost:8366';
  const link = linkUrl(url, made);
  const expiresAt = isoTime(made.record.expiresAtMs);
  out.note(`${what}, and works until ${formatTime(expiresAt)}. Whoever has it may: hand it over in private.`);
  out.result({ link, expiresAt }, () => out.write(`${link}\n`));
}

interface TokenOptions extends AdminOptions {
  readonly name: string;
  readonly scope?: readonly TokenScope[];
  readonly expiresInDays?: number;
  readonly yes?: boolean;
}

async function createToken(deps: Deps, out: Reporter, user: UserId, options: TokenOptions): Promise<void> {
  const wanted = options.scope ?? tokenScopes;
  const { record, secret } = await issueToken(deps, user, {
    name: assertName(options.name),
    scopes: wanted,
    appId: null,
    expiresAtMs: lifetimeEnd(tokenLifetimeDays(wanted), options.expiresInDays, deps.clock()),
  });
  const { id, userId, name, scopes } = record;
  const expiresAt = isoTime(record.expiresAtMs);
  out.note(`Created ${id} (${scopes.join(', ')}; until ${formatTime(expiresAt)}). It is shown this once:`);
  out.result({ id, userId, name, scopes, expiresAt, token: secret }, () => out.write(`${secret}\n`));
}

interface ApiKeyOptions {
  readonly user?: string;
  readonly expiresInDays?: number;
  readonly yes?: boolean;
}

async function createApiKey(io: Io, deps: Deps, out: Reporter, name: string, options: ApiKeyOptions): Promise<void> {
  assertName(name);
  const user =
    options.user === undefined
      ? (await createUser(deps, { name, email: null })).id
      : await confirmUser(io, deps, options.user, { what: 'have a new API key', yes: options.yes });
  const { record, secret } = await issueApiKey(deps, user, name, options.expiresInDays);
  const expiresAt = isoTime(record.expiresAtMs);
  out.note(`Created ${record.id} for ${user} (until ${formatTime(expiresAt)}). The key is shown this once:`);
  out.result({ id: record.id, userId: user, name, expiresAt, apiKey: secret }, () => out.write(`${secret}\n`));
}

/** The API's own rule for names (`displayName` in the protocol), which nothing checks below it. */
function assertName(name: string): string {
  if (name.length <= maxNameLength && new RegExp(displayNamePattern, 'u').test(name)) return name;
  throw usageError(
    `A name has 1 to ${maxNameLength} characters, of which one is visible, and no bidirectional control characters.`,
  );
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

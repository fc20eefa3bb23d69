import type { TokenScope, UserId } from '@tenon/protocol';
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
import { Option } from 'commander';
import { type Command, withConfirmation } from '../command.ts';
import { parseLifetimeDays } from '../duration.ts';
import type { Io } from '../io.ts';
import type { Reporter } from '../output.ts';
import { parseScopes, tokenScopes } from '../scopes.ts';
import { formatTime, printable } from '../text.ts';
import { addAdminAuditCommand } from './admin-audit.ts';
import { addCopyCommand } from './admin-copy.ts';
import { type AdminOptions, withData, withStore } from './admin-data.ts';
import { addHostTokenCommands } from './admin-host-token.ts';
import { addMaintenanceCommands } from './admin-maintenance.ts';
import { assertName } from './admin-names.ts';
import { addOperatorCommands } from './admin-operators.ts';
import { addQuotaCommands } from './admin-quotas.ts';
import { addSigningKeyCommands } from './admin-signing-key.ts';
import { addTokenListCommands } from './admin-tokens.ts';
import { confirmUser } from './admin-user.ts';
import { addUserCommands } from './admin-users.ts';
import { addAdminYankCommands } from './admin-yank.ts';

export function addAdminCommands(program: Command, io: Io): void {
  const group = program
    .command('admin')
    .description('work directly on the data, as the operator of the server, which may be running');
  addSigningKeyCommands(group, io);
  const users = group.command('user').description('accounts');
  const tokens = group.command('token').description('access tokens and API keys of any user');
  const quotas = group.command('quota').description('quotas of one account or application');
  const apiKeys = group.command('api-key').description('API keys for the instrumentation endpoint');

  users
    .command('invite')
    .description('create a set-up link for one account, and write it')
    .use(withLinkOptions)
    .examples('tenon admin user invite', 'tenon admin user invite --public-url https://tenon.example.org')
    .action((options: AdminOptions) =>
      withData(io, options, async (deps, out, config) => {
        showLink(out, config, await createSetUpLink(deps, false), 'It makes one account');
      }),
    );

  users
    .command('reset-password')
    .use(withConfirmation)
    .argument('<user>', 'the user: an id, usr_…, or an e-mail address')
    .option('--email <email>', 'the e-mail address to sign in with, if the user has none')
    .description("create a link that sets a user's password, and write it")
    .use(withLinkOptions)
    .examples('tenon admin user reset-password ada@example.org', 'tenon admin user reset-password usr_01j29hyr4… --yes')
    .action((user: string, options: AdminOptions & { email?: string; yes?: boolean }) =>
      withData(io, options, async (deps, out, config) => {
        const what = 'get a new password from the person who opens the link';
        const userId = await confirmUser(io, deps, user, { what, yes: options.yes, needsYes: true });
        const link = await createPasswordLink(deps, 'operator', userId, options.email);
        showLink(out, config, link, 'It sets the password, once, and ends all sessions of the account');
      }),
    );

  users
    .command('create')
    .argument('<name>')
    .option('--email <email>', 'the e-mail address')
    .description("create a user who can't sign in, and write the id")
    .use(withStore)
    .examples('tenon admin user create Ada', 'tenon admin token create $(tenon admin user create Ada)')
    .action((name: string, options: AdminOptions & { email?: string }) =>
      withData(io, options, async (deps, out) => {
        const user = await createUser(deps, { name: assertName(name), email: options.email ?? null });
        const { id, email, createdAtMs } = user;
        out.note(`Created the user "${printable(name)}". Their id:`);
        out.result({ id, name, email, createdAt: isoTime(createdAtMs) }, () => out.write(`${id}\n`));
      }),
    );

  tokens
    .command('create')
    .use(withConfirmation)
    .argument('<user>', 'the user: an id, usr_…, or an e-mail address')
    .option('--name <name>', 'its name in lists', 'made by the operator')
    .addOption(
      new Option('--scope <scopes>', 'read, publish, manage; separate several by commas (default: all)').argParser(
        parseScopes,
      ),
    )
    .addOption(
      new Option('--expires-in <duration>', 'the lifetime (default: 90d with read alone, otherwise 7d)').argParser(
        parseLifetimeDays,
      ),
    )
    .description('create an access token for a user, and write it')
    .use(withStore)
    .examples('tenon admin token create usr_01j29hyr4… --scope read --name "host application"')
    .action((user: string, options: TokenOptions) =>
      withData(io, options, async (deps, out) => {
        const userId = await confirmUser(io, deps, user, { what: 'have a new access token', yes: options.yes });
        await createToken(deps, out, userId, options);
      }),
    );

  apiKeys
    .command('create')
    .use(withConfirmation)
    .argument('<name>', 'its name in lists')
    .option('--user <user>', 'the user: an id, usr_…, or an e-mail address (default: a new user of that name)')
    .addOption(new Option('--expires-in <duration>', 'the lifetime (default: 90d)').argParser(parseLifetimeDays))
    .description('create an API key for the instrumentation endpoint, and write it')
    .use(withStore)
    .examples('tenon admin api-key create "build machine"')
    .action((name: string, options: AdminOptions & ApiKeyOptions) =>
      withData(io, options, (deps, out) => createApiKey(io, deps, out, name, options)),
    );

  addQuotaCommands(quotas, io);
  addUserCommands(users, io);
  addTokenListCommands(tokens, io);
  addHostTokenCommands(group, io);
  addAdminYankCommands(group, io);
  addOperatorCommands(group, io);
  addMaintenanceCommands(group, io);
  addCopyCommand(group, io);
  addAdminAuditCommand(group, io);
}

function withLinkOptions(command: Command): void {
  withStore(command).option(
    '--public-url <url>',
    'the URL of the server (default: TENON_PUBLIC_URL, else the URL at its last start)',
  );
}

function showLink(out: Reporter, { publicUrl, dataDir }: Config, made: CreatedLink, what: string): void {
  const url = publicUrl ?? readQuickstart(dataDir).get('TENON_URL') ?? 'http://localhost:8366';
  const link = linkUrl(url, made);
  const expiresAt = isoTime(made.record.expiresAtMs);
  out.note(`${what}, and works until ${formatTime(expiresAt)}. Anyone with this link can use it. Send it privately.`);
  out.result({ link, expiresAt }, () => out.write(`${link}\n`));
}

interface TokenOptions extends AdminOptions {
  readonly name: string;
  readonly scope?: readonly TokenScope[];
  /** In days. */
  readonly expiresIn?: number;
  readonly yes?: boolean;
}

async function createToken(deps: Deps, out: Reporter, user: UserId, options: TokenOptions): Promise<void> {
  const wanted = options.scope ?? tokenScopes;
  const { record, secret } = await issueToken(deps, user, {
    name: assertName(options.name),
    scopes: wanted,
    appId: null,
    expiresAtMs: lifetimeEnd(tokenLifetimeDays(wanted), options.expiresIn, deps.clock()),
  });
  const { id, userId, name, scopes } = record;
  const expiresAt = isoTime(record.expiresAtMs);
  out.note(`Created ${id} (${scopes.join(', ')}; until ${formatTime(expiresAt)}). It is shown only once:`);
  out.result({ id, userId, name, scopes, expiresAt, token: secret }, () => out.write(`${secret}\n`));
}

interface ApiKeyOptions {
  readonly user?: string;
  /** In days. */
  readonly expiresIn?: number;
  readonly yes?: boolean;
}

async function createApiKey(io: Io, deps: Deps, out: Reporter, name: string, options: ApiKeyOptions): Promise<void> {
  assertName(name);
  const user =
    options.user === undefined
      ? (await createUser(deps, { name, email: null })).id
      : await confirmUser(io, deps, options.user, { what: 'have a new API key', yes: options.yes });
  const { record, secret } = await issueApiKey(deps, user, name, options.expiresIn);
  const expiresAt = isoTime(record.expiresAtMs);
  out.note(`Created ${record.id} for ${user} (until ${formatTime(expiresAt)}). The key is shown only once:`);
  out.result({ id: record.id, userId: user, name, expiresAt, apiKey: secret }, () => out.write(`${secret}\n`));
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

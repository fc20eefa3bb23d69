import {
  type OwnPlugin,
  revokedCredentials,
  type TokenInfo,
  type TokenScope,
  tokenCreated,
  tokenInfo,
} from '@tenon/protocol';
import { Option } from 'commander';
import { path } from '../api.ts';
import { type Command, collect, withConfirmation, withExtensionPoint, withServer } from '../command.ts';
import { confirm } from '../confirm.ts';
import { assertToken, findConnection } from '../connection.ts';
import { parseLifetimeDays } from '../duration.ts';
import { usageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { type ListOptions, showList, withLimit } from '../listing.ts';
import { createReporter } from '../output.ts';
import { resolveApp, resolveExtensionPoint } from '../resolve.ts';
import { parseScopes } from '../scopes.ts';
import type { ConnectionOptions } from '../server-choice.ts';
import { calling, type Session } from '../session.ts';
import { formatTime, printable, revokedText } from '../text.ts';

export function addTokenCommands(program: Command, io: Io): void {
  const group = program.command('token').description('access tokens for the distribution API');

  group
    .command('print')
    .description('write the token that commands use')
    .use(withServer)
    .examples('curl -H "authorization: Bearer $(tenon token print)" https://plugins.example.org/api/v1/me')
    .action((options: ConnectionOptions & { json?: boolean }) => printToken(io, options));

  group
    .command('list')
    .description('list your tokens, without their secrets')
    .use(withLimit, withServer)
    .examples('tenon token list')
    .action(calling(io, listTokens));

  group
    .command('create')
    .argument('<name>', 'a name to recognize it by')
    .option(
      '--scope <scopes>',
      'read, publish, manage; separate several by commas (default: those of your token)',
      parseScopes,
    )
    .option('--app <app>', 'restrict it to one application, by id or name')
    .option('--plugin <name>', 'restrict it to one of your plugins, at the extension point of --extension-point')
    .option('--network <cidr>', 'restrict it to networks, such as 192.0.2.0/24; separate several by commas', collect)
    .use((command) => withExtensionPoint(command, 'with --plugin: TENON_EXTENSION_POINT_ID, else the only one'))
    .addOption(
      new Option('--expires-in <duration>', 'the lifetime (default: 90d with read alone, otherwise 7d)').argParser(
        parseLifetimeDays,
      ),
    )
    .description('create a token, with at most the scopes and lifetime of the token that you use')
    .use(withServer)
    .examples(
      'tenon token create "CI of greet" --scope publish --app "Acme Editor"',
      'tenon token create "CI of greet" --plugin greet --network 192.0.2.0/24',
    )
    .action(calling(io, createToken));

  group
    .command('revoke')
    .argument('<token>', 'its id, tok_…')
    .description('revoke a token: it stops working at once')
    .use(withConfirmation, withServer)
    .examples('tenon token revoke tok_01j29hxk3…')
    .action(calling(io, revokeToken));

  group
    .command('revoke-all')
    .option('--include-current', 'also the token that you use')
    .description('revoke all your other tokens, API keys, browser sessions, pending logins, and links')
    .use(withConfirmation, withServer)
    .examples('tenon token revoke-all', 'tenon token revoke-all --include-current --yes')
    .action(calling(io, revokeAll));
}

function printToken(io: Io, options: ConnectionOptions & { json?: boolean }): void {
  const out = createReporter(io, options.json === true);
  const connection = findConnection(options, { ...io, warn: out.warn });
  const token = assertToken(connection);
  out.result({ url: connection.url, token }, () => out.write(`${token}\n`));
}

async function listTokens(session: Session, options: ListOptions): Promise<void> {
  await showList(session, options, '/api/v1/tokens', tokenInfo, {
    headings: ['NAME', 'ID', 'SCOPES', 'ONLY FOR', 'EXPIRES', 'LAST USED', 'FROM'],
    row: (token) => [
      token.name,
      token.id,
      token.scopes.join(', '),
      onlyFor(token),
      formatTime(token.expiresAt),
      formatTime(token.lastUsedAt),
      token.lastUsedAddress ?? '-',
    ],
    whenEmpty: 'You have no tokens.',
  });
}

interface TokenOptions {
  readonly scope?: TokenScope[];
  readonly app?: string;
  readonly plugin?: string;
  readonly extensionPoint?: string;
  readonly network?: string[];
  readonly expiresIn?: number;
}

async function pluginOf(session: Session, { plugin, extensionPoint }: TokenOptions): Promise<OwnPlugin | undefined> {
  if (plugin !== undefined) {
    return { extensionPointId: await resolveExtensionPoint(session, extensionPoint), name: plugin };
  }
  if (extensionPoint === undefined) return undefined;
  throw usageError(
    '--extension-point needs --plugin.',
    'A token is restricted to a plugin, not to an extension point.',
  );
}

/** What a token is restricted to. */
function onlyFor({ appId, plugin, guestId, networks }: TokenInfo): string {
  const resource = plugin === null ? (guestId ?? appId) : `${plugin.name} at ${plugin.extensionPointId}`;
  return [...(resource === null ? [] : [resource]), ...(networks ?? [])].join(', ') || '-';
}

async function createToken(session: Session, options: TokenOptions, name: string): Promise<void> {
  const { api, out } = session;
  const { scope: scopes, app, network: networks, expiresIn: expiresInDays } = options;
  const appId = app === undefined ? undefined : await resolveApp(session, app);
  const plugin = await pluginOf(session, options);
  const input = { name, scopes, appId, plugin, networks, expiresInDays };
  const made = await api.send('POST', '/api/v1/tokens', input, tokenCreated);
  const end = formatTime(made.expiresAt);
  out.note(`Created ${made.id} (${made.scopes.join(', ')}; until ${end}). It is shown only once:`);
  out.result(made, () => out.write(`${printable(made.token)}\n`));
}

async function revokeToken({ api, io, out }: Session, options: { yes?: boolean }, id: string): Promise<void> {
  await confirm(io, `The token ${id} will stop working at once.`, options);
  await api.remove(path`/api/v1/tokens/${id}`);
  out.result({ revoked: id }, () => out.note(`Revoked ${id}.`));
}

async function revokeAll(
  { api, io, out }: Session,
  { includeCurrent = false, yes }: { includeCurrent?: boolean; yes?: boolean },
): Promise<void> {
  const kept = includeCurrent ? '' : ' except the token that you use';
  await confirm(io, `All sessions, tokens, API keys and pending logins of your account${kept} will stop working.`, {
    yes,
  });
  const revoked = await api.send('POST', '/api/v1/credentials/revoke-all', { includeCurrent }, revokedCredentials);
  out.result(revoked, () => out.note(`Revoked ${revokedText(revoked)}.`));
}

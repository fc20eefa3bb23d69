import { revokedCredentials, type TokenScope, tokenCreated, tokenInfo } from '@tenon/protocol';
import { Option } from 'commander';
import { path } from '../api.ts';
import { type Command, withConfirmation, withServer } from '../command.ts';
import { confirm } from '../confirm.ts';
import { assertToken, findConnection } from '../connection.ts';
import { parseLifetimeDays } from '../duration.ts';
import type { Io } from '../io.ts';
import { type ListOptions, showList, withLimit } from '../listing.ts';
import { createReporter } from '../output.ts';
import { resolveApp } from '../resolve.ts';
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
    .addOption(
      new Option('--expires-in <duration>', 'the lifetime (default: 90d with read alone, otherwise 7d)').argParser(
        parseLifetimeDays,
      ),
    )
    .description('create a token, with at most the scopes and lifetime of the token that you use')
    .use(withServer)
    .examples('tenon token create "CI of greet" --scope publish --app "Acme Editor"')
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
      token.appId ?? '-',
      formatTime(token.expiresAt),
      formatTime(token.lastUsedAt),
      token.lastUsedAddress ?? '-',
    ],
    whenEmpty: 'You have no tokens.',
  });
}

async function createToken(
  session: Session,
  options: { scope?: TokenScope[]; app?: string; expiresIn?: number },
  name: string,
): Promise<void> {
  const { api, out } = session;
  const { scope: scopes, app, expiresIn: expiresInDays } = options;
  const appId = app === undefined ? undefined : await resolveApp(session, app);
  const made = await api.send('POST', '/api/v1/tokens', { name, scopes, appId, expiresInDays }, tokenCreated);
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

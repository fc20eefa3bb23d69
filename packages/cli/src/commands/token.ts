import { type TokenInfo, type TokenScope, tokenCreated, tokenInfo } from '@tenon/protocol';
import { type Command, Option } from 'commander';
import { path } from '../api.ts';
import { examples, withConfirmation, withServer } from '../command.ts';
import { confirm } from '../confirm.ts';
import { assertToken, findConnection } from '../connection.ts';
import { parseLifetimeDays } from '../duration.ts';
import type { Io } from '../io.ts';
import { type ListOptions, readList, withLimit } from '../listing.ts';
import { createReporter } from '../output.ts';
import { parseScopes } from '../scopes.ts';
import type { ConnectionOptions } from '../server-choice.ts';
import { calling, type Session } from '../session.ts';
import { formatTime, printable } from '../text.ts';

export function addTokenCommands(program: Command, io: Io): void {
  const group = program.command('token').description('access tokens: what opens the distribution API');

  withServer(group.command('print').description('write the token that commands use'))
    .addHelpText(
      'after',
      examples('curl -H "authorization: Bearer $(tenon token print)" https://plugins.example.org/api/v1/me'),
    )
    .action((options: ConnectionOptions & { json?: boolean }) => printToken(io, options));

  withServer(withLimit(group.command('list').description('list your tokens; their secrets are kept nowhere')))
    .addHelpText('after', examples('tenon token list'))
    .action(calling(io, listTokens));

  withServer(
    group
      .command('create')
      .argument('<name>', 'a name to recognise it by')
      .option(
        '--scope <scopes>',
        'read, publish, manage; several between commas (default: those of your token)',
        parseScopes,
      )
      .option('--app <app>', 'restrict it to one application')
      .addOption(
        new Option(
          '--expires-in <duration>',
          'how long it works (default: 90d with read alone, otherwise 7d)',
        ).argParser(parseLifetimeDays),
      )
      .description('make a token, never broader or longer-lived than the one that you use'),
  )
    .addHelpText('after', examples('tenon token create "CI of greet" --scope publish --app app_01j29hxk3…'))
    .action(calling(io, createToken));

  withServer(
    withConfirmation(
      group.command('revoke').argument('<token>', 'its id, tok_…').description('make a token stop working at once'),
    ),
  )
    .addHelpText('after', examples('tenon token revoke tok_01j29hxk3…'))
    .action(calling(io, revokeToken));
}

function printToken(io: Io, options: ConnectionOptions & { json?: boolean }): void {
  const out = createReporter(io, options.json === true);
  const connection = findConnection(options, { ...io, warn: out.warn });
  const token = assertToken(connection);
  out.result({ url: connection.url, token }, () => out.write(`${token}\n`));
}

async function listTokens({ api, out }: Session, options: ListOptions): Promise<void> {
  const tokens = await readList({ api, out }, options, '/api/v1/tokens', tokenInfo);
  out.result(tokens, () =>
    out.table(
      ['NAME', 'ID', 'SCOPES', 'ONLY FOR', 'EXPIRES', 'LAST USED'],
      tokens.map((token: TokenInfo) => [
        printable(token.name),
        token.id,
        token.scopes.join(', '),
        token.appId ?? '-',
        formatTime(token.expiresAt),
        formatTime(token.lastUsedAt),
      ]),
      'You have no tokens.',
    ),
  );
}

async function createToken(
  { api, out }: Session,
  options: { scope?: TokenScope[]; app?: string; expiresIn?: number },
  name: string,
): Promise<void> {
  const { scope: scopes, app: appId, expiresIn: expiresInDays } = options;
  const made = await api.send('POST', '/api/v1/tokens', { name, scopes, appId, expiresInDays }, tokenCreated);
  const end = formatTime(made.expiresAt);
  out.note(`Created ${made.id} (${made.scopes.join(', ')}; until ${end}). It is shown this once:`);
  out.result(made, () => out.write(`${printable(made.token)}\n`));
}

async function revokeToken({ api, io, out }: Session, options: { yes?: boolean }, id: string): Promise<void> {
  await confirm(io, `The token ${id} will stop working at once.`, options);
  await api.remove(path`/api/v1/tokens/${id}`);
  out.result({ revoked: id }, () => out.note(`Revoked ${id}.`));
}

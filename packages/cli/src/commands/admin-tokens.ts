import { isId } from '@tenon/protocol';
import {
  type Credential,
  type Deps,
  findCredential,
  type ListedCredential,
  listCredentials,
  revokeCredentials,
} from '@tenon/server';
import { type Command, withConfirmation } from '../command.ts';
import { confirm } from '../confirm.ts';
import { usageError } from '../errors.ts';
import type { Io } from '../io.ts';
import type { Reporter } from '../output.ts';
import { count, formatTime, printable } from '../text.ts';
import { type AdminOptions, withPresentData, withStore } from './admin-data.ts';
import { confirmUser, findUserId } from './admin-user.ts';

const maxListed = 1000;

/** Adds `token list` and `token revoke`, for the tokens and API keys of any user. */
export function addTokenListCommands(tokens: Command, io: Io): void {
  tokens
    .command('list')
    .argument('<user>', 'the user: an id, usr_…, or an e-mail address')
    .description("list a user's access tokens and API keys, without their secrets")
    .use(withStore)
    .examples('tenon admin token list ada@example.org')
    .action((named: string, options: AdminOptions) =>
      withPresentData(io, options, async (deps, out) => {
        showCredentials(out, await listCredentials(deps, await findUserId(deps, named), maxListed));
      }),
    );

  tokens
    .command('revoke')
    .use(withConfirmation)
    .argument('[token]', 'the id of an access token, tok_…, or of an API key, key_…')
    .option('--all-of <user>', 'all access tokens and API keys of a user')
    .description('revoke an access token or API key of any user: it stops working within a second')
    .use(withStore)
    .examples('tenon admin token revoke tok_01j29hxk3…', 'tenon admin token revoke --all-of usr_01j29hyr4… --yes')
    .action((id: string | undefined, options: RevokeOptions) =>
      withPresentData(io, options, async (deps, out) => {
        const revoked = await revokeCredentials(deps, await chosenCredentials(io, deps, id, options));
        out.result({ revoked }, () => {
          for (const each of revoked) out.write(`${each}\n`);
        });
        out.note(`Revoked ${count(revoked.length, 'credential')}.`);
      }),
    );
}

interface RevokeOptions extends AdminOptions {
  readonly allOf?: string;
  readonly yes?: boolean;
}

async function chosenCredentials(
  io: Io,
  deps: Deps,
  id: string | undefined,
  { allOf, yes }: RevokeOptions,
): Promise<readonly Credential[]> {
  if ((id === undefined) === (allOf === undefined))
    throw usageError('Name a token or API key, or a user with --all-of.');
  if (allOf !== undefined) {
    const what = 'lose all access tokens and API keys, also those that hosts and builds use; sessions stay';
    return listCredentials(deps, await confirmUser(io, deps, allOf, { what, yes, needsYes: true }));
  }
  const found = await findCredential(deps, id ?? '');
  const owner = await deps.store.read.user(found.userId);
  const of = `of ${printable(owner?.name ?? '')} (${found.userId})`;
  await confirm(io, `The ${kindOf(found)} "${printable(found.name)}" ${of} will stop working.`, { yes });
  return [found];
}

const kindOf = ({ id }: Credential) => (isId('apiKey', id) ? 'API key' : 'access token');

function showCredentials(out: Reporter, found: readonly ListedCredential[]): void {
  const objects = found.map((each) => ({
    id: each.id,
    kind: isId('apiKey', each.id) ? ('api_key' as const) : ('token' as const),
    name: each.name,
    scopes: 'scopes' in each ? each.scopes : null,
    appId: 'appId' in each ? each.appId : null,
    createdAt: new Date(each.createdAtMs).toISOString(),
    expiresAt: new Date(each.expiresAtMs).toISOString(),
    lastUsedAt: each.lastUsedAtMs === null ? null : new Date(each.lastUsedAtMs).toISOString(),
    lastUsedAddress: each.lastUsedAddress,
  }));
  out.result({ objects }, () =>
    out.table(
      ['NAME', 'ID', 'ALLOWS', 'ONLY FOR', 'CREATED', 'EXPIRES', 'LAST USED', 'FROM'],
      objects.map(({ name, id, scopes, appId, createdAt, expiresAt, lastUsedAt, lastUsedAddress }) => [
        name,
        id,
        scopes?.join(', ') ?? 'instrumentation',
        appId ?? '-',
        formatTime(createdAt),
        formatTime(expiresAt),
        formatTime(lastUsedAt),
        lastUsedAddress ?? '-',
      ]),
      'The user has no access tokens or API keys.',
    ),
  );
}

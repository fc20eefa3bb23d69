import { userListQuery } from '@tenon/protocol';
import {
  type Deps,
  deleteUser,
  describeUser,
  listUsers,
  resetSecondFactor,
  revokeCredentialsOf,
  suspendUser,
  toUser,
  toUserDetails,
  unsuspendUser,
} from '@tenon/server';
import { Option } from 'commander';
import { type Command, parseCount, withConfirmation } from '../command.ts';
import type { Io } from '../io.ts';
import type { Reporter } from '../output.ts';
import { count, formatTime, revokedText } from '../text.ts';
import { type AdminOptions, withPresentData, withStore } from './admin-data.ts';
import { confirmUser, findUserId, userFields } from './admin-user.ts';

const { state, sort } = userListQuery.properties;
const choicesOf = (schema: { readonly anyOf: readonly { readonly const: string }[] }) =>
  schema.anyOf.map((choice) => choice.const);

interface ListOptions extends AdminOptions {
  readonly search?: string;
  readonly state?: 'active' | 'suspended' | 'operator';
  readonly sort: 'createdAt';
  readonly limit: number;
}

const changes = [
  {
    name: 'suspend',
    change: suspendUser,
    description: 'refuse sign-ins of a user until `unsuspend`, and revoke sessions, tokens and API keys for good',
    what: 'be signed out everywhere, and lose all tokens and API keys; plugins stay',
    isSuspended: true,
    changed: 'The user is suspended.',
    unchanged: 'The user was already suspended.',
  },
  {
    name: 'unsuspend',
    change: unsuspendUser,
    description: 'end the suspension of a user',
    what: 'be able to sign in again; revoked tokens and API keys stay revoked',
    isSuspended: false,
    changed: 'The user is no longer suspended.',
    unchanged: 'The user was not suspended.',
  },
] as const;

/** Adds `user list`, `show`, `suspend`, `unsuspend`, `revoke-all`, `reset-second-factor`, and `delete`. */
export function addUserCommands(users: Command, io: Io): void {
  users
    .command('list')
    .option('--search <text>', 'only users with this text in the name or e-mail address, or with this id')
    .addOption(new Option('--state <state>', 'only users in this state').choices(choicesOf(state)))
    .addOption(
      new Option('--sort <order>', 'the order; - means descending').choices(choicesOf(sort)).default('createdAt'),
    )
    .option('--limit <number>', 'list at most this many users', parseCount, 100)
    .description('list the users of the server')
    .use(withStore)
    .examples('tenon admin user list --search example.org', 'tenon admin user list --state suspended --json')
    .action((options: ListOptions) => withPresentData(io, options, (deps, out) => showUsers(deps, out, options)));

  users
    .command('show')
    .argument('<user>', 'the user: an id, usr_…, or an e-mail address')
    .description('show a user, with applications, and the numbers of sessions, tokens and keys')
    .use(withStore)
    .examples('tenon admin user show ada@example.org')
    .action((named: string, options: AdminOptions) =>
      withPresentData(io, options, async (deps, out) => {
        const found = await describeUser(deps, await findUserId(deps, named));
        out.result(toUserDetails(found), () => out.fields(userFields(found, deps.clock())));
      }),
    );

  for (const { name, change, description, what, isSuspended, changed, unchanged } of changes) {
    users
      .command(name)
      .use(withConfirmation)
      .argument('<user>', 'the user: an id, usr_…, or an e-mail address')
      .description(description)
      .use(withStore)
      .examples(`tenon admin user ${name} ada@example.org`, `tenon admin user ${name} usr_01j29hyr4… --yes`)
      .action((named: string, options: AdminOptions & { yes?: boolean }) =>
        withPresentData(io, options, async (deps, out) => {
          const userId = await confirmUser(io, deps, named, { what, yes: options.yes, needsYes: isSuspended });
          const isChanged = await change(deps, 'operator', userId);
          out.result({ userId, isSuspended }, () => out.write(`${userId}\n`));
          out.note(isChanged ? changed : unchanged);
        }),
      );
  }

  users
    .command('revoke-all')
    .use(withConfirmation)
    .argument('<user>', 'the user: an id, usr_…, or an e-mail address')
    .description("revoke a user's sessions, tokens, API keys, pending logins, and links")
    .use(withStore)
    .examples('tenon admin user revoke-all ada@example.org', 'tenon admin user revoke-all usr_01j29hyr4… --yes')
    .action((named: string, options: AdminOptions & { yes?: boolean }) =>
      withPresentData(io, options, async (deps, out) => {
        const what = 'be signed out everywhere, and lose all tokens and API keys, but can sign in again';
        const userId = await confirmUser(io, deps, named, { what, yes: options.yes, needsYes: true });
        const revoked = await revokeCredentialsOf(deps, 'operator', userId);
        out.result({ userId, ...revoked }, () => out.write(`${userId}\n`));
        out.note(`Revoked ${revokedText(revoked)}.`);
      }),
    );

  users
    .command('reset-second-factor')
    .use(withConfirmation)
    .argument('<user>', 'the user: an id, usr_…, or an e-mail address')
    .description("remove a user's passkeys and recovery codes, if they are lost; then the password alone signs in")
    .use(withStore)
    .examples('tenon admin user reset-second-factor ada@example.org')
    .action((named: string, options: AdminOptions & { yes?: boolean }) =>
      withPresentData(io, options, async (deps, out) => {
        const what = 'have no passkey or recovery code, and be signed out everywhere';
        const userId = await confirmUser(io, deps, named, { what, yes: options.yes, needsYes: true });
        const isChanged = await resetSecondFactor(deps, 'operator', userId);
        out.result({ userId }, () => out.write(`${userId}\n`));
        out.note(isChanged ? 'Removed the passkeys and recovery codes.' : 'The user had no passkey.');
      }),
    );

  users
    .command('delete')
    .use(withConfirmation)
    .argument('<user>', 'the user: an id, usr_…, or an e-mail address')
    .description("delete a user's account with its plugins and their bindings")
    .use(withStore)
    .examples('tenon admin user delete ada@example.org', 'tenon admin user delete usr_01j29hyr4… --yes')
    .action((named: string, options: AdminOptions & { yes?: boolean }) =>
      withPresentData(io, options, async (deps, out) => {
        const what = 'be deleted, with all plugins; hosts stop getting them at once. This cannot be undone';
        const userId = await confirmUser(io, deps, named, { what, yes: options.yes, needsYes: true });
        await deleteUser(deps, 'operator', userId);
        out.result({ deleted: userId }, () => out.write(`${userId}\n`));
        out.note('Deleted the user.');
      }),
    );
}

async function showUsers(deps: Deps, out: Reporter, { search, state, sort, limit }: ListOptions): Promise<void> {
  const { items, next, total } = await listUsers(deps, { sort, limit }, { text: search, state });
  const objects = items.map(toUser);
  out.result({ objects }, () =>
    out.table(
      ['NAME', 'ID', 'E-MAIL', 'CREATED', 'LAST SEEN', 'APPLICATIONS', 'STATE'],
      objects.map((user) => [
        user.name,
        user.id,
        user.email ?? '-',
        formatTime(user.createdAt),
        formatTime(user.lastSeenAt),
        String(user.appCount),
        stateOf(user),
      ]),
      search === undefined && state === undefined ? 'There are no users.' : 'No users match.',
    ),
  );
  if (next !== undefined) out.note(`Showing ${count(items.length, 'user')} of ${total}. For more, raise --limit.`);
}

function stateOf({ isOperator, suspendedAt }: { readonly isOperator: boolean; readonly suspendedAt: string | null }) {
  return [isOperator ? 'operator' : '', suspendedAt === null ? '' : 'suspended'].filter(Boolean).join(', ') || '-';
}

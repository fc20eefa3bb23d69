import { isId, type UserId } from '@tenon/protocol';
import { type Deps, describeUser, findUser } from '@tenon/server';
import { confirm } from '../confirm.ts';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { formatTime, printable } from '../text.ts';

/** The id of a user, by id or e-mail address. @throws CliError `not_found` */
async function assertUser(deps: Deps, named: string): Promise<UserId> {
  const user = await findUser(deps.store.read, named);
  if (user !== undefined) return user.id;
  throw new CliError('not_found', `There is no user ${printable(named)} on this server.`, {
    exitCode: exitCodes.notFound,
    hint: 'Make one with `tenon admin user create <name>`, or name the right server with --store.',
  });
}

/**
 * Finds a user by id or e-mail address, and has the operator confirm who it is. E-mail addresses are not verified, so `--yes` takes ids only.
 *
 * @param what what will happen to the user, after "will"
 * @param needsYes whether an id takes a confirmation too, or `--yes`
 * @throws CliError `not_found`, `usage`, `declined`
 */
export async function confirmUser(
  io: Io,
  deps: Deps,
  named: string,
  {
    what,
    yes,
    needsYes = false,
  }: { readonly what: string; readonly yes?: boolean | undefined; readonly needsYes?: boolean },
): Promise<UserId> {
  const userId = await assertUser(deps, named);
  const isNamedById = isId('user', named);
  if (isNamedById && (yes === true || !needsYes)) return userId;
  if (yes === true) {
    throw usageError(
      `With --yes a user is named by id: e-mail addresses are not verified, and ${printable(named)} may belong to another person.`,
      `Leave --yes out to see whose it is, or name ${userId} if that is who you mean.`,
    );
  }
  const { user, apps } = await describeUser(deps, userId);
  const names = apps.map(({ app, role }) => `"${printable(app.name)}" (${role})`).join(', ') || 'none';
  const shown = [
    `name           ${printable(user.name)}`,
    `id             ${userId}`,
    `e-mail         ${printable(user.email ?? 'none')}${user.email === null ? '' : ' (not verified)'}`,
    `created        ${formatTime(new Date(user.createdAtMs).toISOString())}`,
    `applications   ${names}`,
    `This user will ${what}.`,
  ];
  await confirm(io, `${shown.join('\n')}\n`, { hint: `Name the user by id: ${userId}${needsYes ? ' --yes' : ''}` });
  return userId;
}

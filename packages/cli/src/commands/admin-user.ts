import { isId, type UserId } from '@tenon/protocol';
import { type Deps, describeUser, findUser, type UserDescription } from '@tenon/server';
import { confirm } from '../confirm.ts';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { count, createStyle, type Field, formatFields, formatTime, printable } from '../text.ts';

/** The id of a user, by id or e-mail address. @throws CliError `not_found` */
export async function findUserId(deps: Deps, named: string): Promise<UserId> {
  const user = await findUser(deps.store.read, named);
  if (user !== undefined) return user.id;
  throw new CliError('not_found', `There is no user ${printable(named)} on this server.`, {
    exitCode: exitCodes.notFound,
    hint: 'Make one with `tenon admin user create <name>`, or name the right server with --store.',
  });
}

/**
 * Finds a user by id or e-mail address, and has the operator confirm who it is. E-mail addresses may be unverified, so `--yes` takes ids only.
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
  const userId = await findUserId(deps, named);
  const isNamedById = isId('user', named);
  if (isNamedById && (yes === true || !needsYes)) return userId;
  if (yes === true) {
    throw usageError(
      `With --yes a user is named by id: e-mail addresses may be unverified, and ${printable(named)} may belong to another person.`,
      `Leave --yes out to see whose it is, or name ${userId} if that is who you mean.`,
    );
  }
  const shown = formatFields(userFields(await describeUser(deps, userId), deps.clock()), createStyle(false));
  await confirm(io, `${shown}This user will ${what}.\n`, {
    hint: `Name the user by id: ${userId}${needsYes ? ' --yes' : ''}`,
  });
  return userId;
}

/** Who a user is, for operators. */
export function userFields({ user, apps, ...counts }: UserDescription, nowMs: number): readonly Field[] {
  const names = apps.map(({ app, role }) => `"${app.name}" (${role})`);
  const more = counts.appCount - apps.length;
  const state = [user.isOperator ? 'operator' : '', user.suspendedAtMs === null ? '' : 'suspended'].filter(Boolean);
  const days = Math.floor((nowMs - user.createdAtMs) / (24 * 60 * 60 * 1000));
  return [
    ['name', user.name],
    ['id', user.id],
    ['e-mail', user.email === null ? 'none' : `${user.email} (${user.isEmailVerified ? '' : 'not '}verified)`],
    ['created', `${time(user.createdAtMs)}, ${days === 0 ? 'today' : `${count(days, 'day')} ago`}`],
    ['last seen', user.lastSeenAtMs === 0 ? 'never' : time(Math.max(user.lastSeenAtMs, user.createdAtMs))],
    ...(state.length === 0 ? [] : [['state', state.join(', ')] as const]),
    ['applications', `${names.join(', ') || 'none'}${more > 0 ? `, and ${more} more` : ''}`],
    ['plugins', String(counts.pluginCount)],
    [
      'credentials',
      `${count(counts.sessionCount, 'session')}, ${count(counts.tokenCount, 'token')}, ${count(counts.apiKeyCount, 'API key')}`,
    ],
  ];
}

function time(ms: number): string {
  return formatTime(new Date(ms).toISOString());
}

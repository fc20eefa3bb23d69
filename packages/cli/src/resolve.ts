import {
  type App,
  app as appSchema,
  type ExtensionPoint,
  extensionPoint as extensionPointSchema,
  guest as guestSchema,
  isId,
  member as memberSchema,
} from '@tenon/protocol';
import { type Api, path } from './api.ts';
import { CliError, usageError } from './errors.ts';
import { exitCodes } from './exit-codes.ts';
import type { Session } from './session.ts';
import { printable } from './text.ts';

/** The part of a session that resolving needs. */
type Known = Pick<Session, 'connection'> & { readonly api: Pick<Api, 'list'> };

/** An object with an id and a name. */
interface Candidate {
  readonly id: string;
  readonly name: string;
}

/** A kind of object in messages. */
interface Kind {
  readonly noun: string;
  /** The kind of reference other than an id. */
  readonly reference: string;
  /** The option and variable that name one, and the command that lists them. */
  readonly hint: string;
}

const appKind: Kind = {
  noun: 'application',
  reference: 'name',
  hint: 'Name it with --app or TENON_APP_ID. To list yours: tenon app list',
};
const extensionPointKind: Kind = {
  noun: 'extension point',
  reference: 'name',
  hint: 'Name it with --extension-point or TENON_EXTENSION_POINT_ID. To list them: tenon extension-point list',
};
const guestKind: Kind = { noun: 'guest', reference: 'guest key', hint: 'To list them: tenon guest list' };
const memberKind: Kind = { noun: 'member', reference: 'name', hint: 'To list them: tenon app member list' };

/**
 * The id of the application that a command is about: the one that is named by id or by unique name, else TENON_APP_ID, else the only
 * one that the user sees.
 *
 * @throws CliError `usage` when it is not clear which, `not_found` when none has the name
 */
export async function resolveApp({ api, connection }: Known, reference: string | undefined): Promise<string> {
  const given = reference ?? connection.appId;
  if (given !== undefined && isId('app', given)) return given;
  return choose(appKind, given, await api.list('/api/v1/apps', appSchema));
}

/** Like {@link resolveApp}, for commands that destroy: the application must be named, even if the user sees only one. */
export async function resolveNamedApp(known: Known, reference: string | undefined): Promise<string> {
  if ((reference ?? known.connection.appId) === undefined) throw usageError('Which application?', appKind.hint);
  return resolveApp(known, reference);
}

/**
 * The id of the extension point that a command is about: the one that is named by id or by unique name, else
 * TENON_EXTENSION_POINT_ID, else the only one that the user sees, of the application if one is known.
 *
 * @throws CliError as {@link resolveApp}
 */
export async function resolveExtensionPoint(
  { api, connection }: Known,
  reference: string | undefined,
  app = connection.appId,
): Promise<string> {
  const given = reference ?? connection.extensionPointId;
  if (given !== undefined && isId('extensionPoint', given)) return given;
  return choose(extensionPointKind, given, await listExtensionPoints({ api, connection }, app));
}

/** Lists the extension points that the user sees, of the application if one is known. */
export async function listExtensionPoints(
  { api, connection }: Known,
  app = connection.appId,
): Promise<readonly ExtensionPoint[]> {
  const apps: string[] =
    app === undefined
      ? (await api.list('/api/v1/apps', appSchema)).map(({ id }: App) => id)
      : [await resolveApp({ api, connection }, app)];
  const all: ExtensionPoint[] = [];
  for (const id of apps) all.push(...(await api.list(path`/api/v1/apps/${id}/extension-points`, extensionPointSchema)));
  return all;
}

/** Like {@link resolveExtensionPoint}, for commands that destroy: the extension point must be named, even if the user sees only one. */
export async function resolveNamedExtensionPoint(known: Known, reference: string | undefined): Promise<string> {
  if ((reference ?? known.connection.extensionPointId) === undefined) {
    throw usageError('Which extension point?', extensionPointKind.hint);
  }
  return resolveExtensionPoint(known, reference);
}

/** The id of a guest of an application, by its id or its guest key. @throws CliError as {@link resolveApp} */
export async function resolveGuest({ api }: Pick<Known, 'api'>, app: string, reference: string): Promise<string> {
  if (isId('guest', reference)) return reference;
  const all = await api.list(path`/api/v1/apps/${app}/guests`, guestSchema);
  return choose(
    guestKind,
    reference,
    all.map(({ id, guestKey }) => ({ id, name: guestKey })),
  );
}

/** The id of a member of an application, by the user's id or name. @throws CliError as {@link resolveApp} */
export async function resolveMember({ api }: Pick<Known, 'api'>, app: string, reference: string): Promise<string> {
  if (isId('user', reference)) return reference;
  const all = await api.list(path`/api/v1/apps/${app}/members`, memberSchema);
  return choose(
    memberKind,
    reference,
    all.map(({ userId, name }) => ({ id: userId, name })),
  );
}

function choose({ noun, reference, hint }: Kind, given: string | undefined, all: readonly Candidate[]): string {
  const fitting = given === undefined ? all : all.filter(({ name }) => name === given);
  const [first, second] = fitting;
  if (first !== undefined && second === undefined) return first.id;
  if (second !== undefined) {
    const what =
      given === undefined ? `Which ${noun}?` : `${fitting.length} ${noun}s are called "${printable(given)}".`;
    const shown = fitting.slice(0, 20).map(({ id, name }) => `  ${id}  ${printable(name)}`);
    const more = fitting.length > shown.length ? [`  and ${fitting.length - shown.length} more`] : [];
    throw usageError(what, [hint, ...shown, ...more].join('\n'));
  }
  if (given === undefined) throw usageError(`Which ${noun}? You can see none.`, hint);
  throw new CliError('not_found', `No ${noun} that you see has the id or ${reference} "${printable(given)}".`, {
    exitCode: exitCodes.notFound,
    hint,
  });
}

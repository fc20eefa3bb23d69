import {
  extensionPoint as extensionPointSchema,
  isId,
  isPluginName,
  me as meSchema,
  type Plugin,
  plugin as pluginSchema,
} from '@tenon/protocol';
import { path } from '../api.ts';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { printable } from '../text.ts';
import { type PluginSession, pluginExtensionPoint } from './plugin-session.ts';

/** A plugin at the server. */
export interface PluginPlace {
  readonly extensionPoint: string;
  readonly user: string;
  readonly name: string;
  /** The path of its routes. */
  readonly path: string;
}

export interface PluginChoice {
  readonly extensionPoint?: string | undefined;
}

/** Whose plugin a name means first: the user's own, or whichever of the extension point there is. */
export type Side = 'publisher' | 'team';

/**
 * Finds the plugin that a command is about: `tenon.toml`'s when none is named. A name means the user's own plugin, or else the
 * only one of the extension point that has it; to the application's team, the only one that has it.
 *
 * @param named a name, or a plugin's id: `ext_…/plugin/usr_…/<name>`
 * @throws CliError `not_found`, or one that lists the plugins of that name
 */
export async function findPlugin(
  session: PluginSession,
  choice: PluginChoice,
  named: string | undefined,
  side: Side,
): Promise<PluginPlace> {
  const reference = named ?? session.project?.settings.name;
  if (reference === undefined) {
    throw usageError(
      'No plugin is named.',
      'Name it, or run the command in the folder of its tenon.toml. To list plugins: tenon plugin list',
    );
  }
  const whole = /^([^/]+)\/plugin\/([^/]+)\/([^/]+)$/.exec(reference);
  if (whole !== null) return placeOf(whole[1] as string, whole[2] as string, whole[3] as string);
  const extensionPoint = await pluginExtensionPoint(session, choice);
  if (!isPluginName(reference)) {
    throw usageError(
      `"${reference}" is neither a plugin's name nor its id.`,
      'An id looks like ext_…/plugin/usr_…/greet.',
    );
  }
  const all = await session.api.list(path`/api/v1/extension-points/${extensionPoint}/plugins`, pluginSchema);
  const found = all.filter(({ name }) => name === reference);
  const own = side === 'publisher' && found.length > 1 ? await ownOf(session, found) : undefined;
  if (found.length === 0) throw await noPlugin(session, choice, extensionPoint, reference);
  return only(own === undefined ? found : [own], reference);
}

async function ownOf({ api }: PluginSession, found: readonly Plugin[]): Promise<Plugin | undefined> {
  const { id } = await api.get('/api/v1/me', meSchema);
  return found.find(({ userId }) => userId === id);
}

/** Says where the plugin was looked for, and why there: a variable of a sourced `quickstart.env` is easily forgotten. */
async function noPlugin(
  session: PluginSession,
  choice: PluginChoice,
  extensionPoint: string,
  name: string,
): Promise<CliError> {
  const found = await session.api.get(path`/api/v1/extension-points/${extensionPoint}`, extensionPointSchema);
  const place = `${printable(found.name)} (${extensionPoint}${originOf(session, choice)})`;
  return new CliError('not_found', `There is no plugin "${name}" at ${place}, or you may not see it.`, {
    exitCode: exitCodes.notFound,
    hint:
      session.project?.settings.name === name
        ? 'To publish it: tenon plugin push. To call it without publishing it: tenon plugin call <export> --local'
        : 'To list plugins: tenon plugin list. To name another extension point: --extension-point',
  });
}

function originOf({ io, connection, project }: PluginSession, { extensionPoint }: PluginChoice): string {
  if (extensionPoint !== undefined) return ', from --extension-point';
  if (project?.settings.extensionPoint !== undefined) return `, from ${project.fileName}`;
  if (connection.extensionPointId === undefined) return '';
  return `, from ${io.environment.TENON_EXTENSION_POINT_ID ? 'TENON_EXTENSION_POINT_ID' : 'quickstart.env'}`;
}

function only(found: readonly Plugin[], name: string): PluginPlace {
  const [first, second] = found as readonly [Plugin, ...Plugin[]];
  if (second === undefined) return placeOf(first.extensionPointId, first.userId, first.name);
  const ids = found.map(({ id }) => `  ${id}`).join('\n');
  throw usageError(`${found.length} users publish a plugin "${name}".`, `Name one by its id:\n${ids}`);
}

function placeOf(extensionPoint: string, user: string, name: string): PluginPlace {
  if (!isId('extensionPoint', extensionPoint) || !isId('user', user)) {
    throw usageError(
      `"${extensionPoint}/plugin/${user}/${name}" is not a plugin id.`,
      'One looks like ext_…/plugin/usr_…/greet.',
    );
  }
  return { extensionPoint, user, name, path: path`/api/v1/artifacts/${extensionPoint}/plugin/${user}/${name}` };
}

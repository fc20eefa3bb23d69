import {
  app as appSchema,
  extensionPoint as extensionPointSchema,
  isId,
  plugin as pluginSchema,
} from '@tenon/protocol';
import { path } from '../api.ts';
import { type Command, withApp, withServer } from '../command.ts';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { findPlugin, type PluginPlace } from '../project/plugin-reference.ts';
import { callingForPlugin, type PluginSession, withProject } from '../project/plugin-session.ts';
import { listExtensionPoints, resolveApp, resolveExtensionPoint } from '../resolve.ts';
import { type ShowPageOptions, showPage, withPrint } from '../show-page.ts';
import { printable } from '../text.ts';

interface Options extends ShowPageOptions {
  readonly app?: string;
  readonly extensionPoint?: string;
}

export function addOpenCommand(program: Command, io: Io): void {
  program
    .command('open')
    .argument('[page]', 'a plugin, extension point, or application, by name or id')
    .description('open a page of the console in a browser')
    .use(withPrint, withProject, withApp, withServer)
    .examples('tenon open', 'tenon open greet', 'tenon open --app "Acme Editor"', 'tenon open --print --json')
    .addHelpText(
      'after',
      `A name means a plugin of the extension point if one is known, else an extension point, else an application. Without a name,
the page is that of --extension-point or --app; of the plugin or the extension point of tenon.toml; of
TENON_EXTENSION_POINT_ID or TENON_APP_ID; or the start page.`,
    )
    .action(callingForPlugin(io, openPage));
}

async function openPage(session: PluginSession, options: Options, named: string | undefined): Promise<void> {
  const { io, out, connection, signal } = session;
  const page = await (named === undefined ? usualPage(session, options) : pageOf(session, options, named));
  await showPage(io, out, connection.url + page, options, signal);
}

async function usualPage(session: PluginSession, options: Options): Promise<string> {
  const { connection, project } = session;
  if (options.extensionPoint !== undefined) {
    return extensionPointPage(session, await resolveExtensionPoint(session, options.extensionPoint, options.app));
  }
  if (options.app !== undefined) return appPage(session, await resolveApp(session, options.app));
  const { extensionPoint, name } = project?.settings ?? {};
  if (extensionPoint !== undefined) {
    const plugin = name === undefined ? undefined : await ifFound(findPlugin(session, {}, name, 'publisher'));
    if (plugin !== undefined) return pluginPage(session, plugin);
    return extensionPointPage(session, await resolveExtensionPoint(session, extensionPoint));
  }
  if (connection.extensionPointId !== undefined) {
    return extensionPointPage(session, await resolveExtensionPoint(session, undefined));
  }
  return connection.appId === undefined ? '/' : appPage(session, await resolveApp(session, undefined));
}

async function pageOf(session: PluginSession, options: Options, named: string): Promise<string> {
  if (isId('app', named)) return appPage(session, named);
  if (isId('extensionPoint', named)) return extensionPointPage(session, named);
  if (named.includes('/')) return pluginPage(session, await findPlugin(session, options, named, 'publisher'));
  const isKnown =
    options.extensionPoint ?? session.project?.settings.extensionPoint ?? session.connection.extensionPointId;
  if (isKnown !== undefined) {
    const plugin = await ifFound(findPlugin(session, options, named, 'publisher'));
    if (plugin !== undefined) return pluginPage(session, plugin);
  }
  const everywhere = { ...session, connection: { ...session.connection, appId: undefined } };
  const extensionPoint = only(await listExtensionPoints(everywhere, options.app), 'extension points', named);
  if (extensionPoint !== undefined) return extensionPointPage(session, extensionPoint.id);
  const app = only(await session.api.list('/api/v1/apps', appSchema), 'applications', named);
  if (app !== undefined) return appPage(session, app.id);
  throw new CliError(
    'not_found',
    `There is no plugin, extension point, or application "${printable(named)}", or you may not see it.`,
    {
      exitCode: exitCodes.notFound,
      hint: 'To list them: tenon plugin list, tenon extension-point list, tenon app list',
    },
  );
}

/** The one with the name. @throws CliError that lists several of them */
function only<T extends { readonly id: string; readonly name: string }>(
  all: readonly T[],
  kind: string,
  named: string,
): T | undefined {
  const found = all.filter(({ name }) => name === named);
  if (found.length < 2) return found[0];
  const ids = found.slice(0, 20).map(({ id }) => `  ${id}`);
  throw usageError(
    `${found.length} ${kind} are called "${printable(named)}".`,
    ['Name one by its id:', ...ids].join('\n'),
  );
}

/** `undefined` for a plugin that isn't there: not published yet, or the name is of something else. */
async function ifFound(plugin: Promise<PluginPlace>): Promise<PluginPlace | undefined> {
  try {
    return await plugin;
  } catch (error) {
    if (error instanceof CliError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** Guests have other pages than the team. */
async function isGuest({ api }: PluginSession, app: string): Promise<boolean> {
  return (await api.get(path`/api/v1/apps/${app}`, appSchema)).role === 'guest';
}

async function appPage(session: PluginSession, app: string): Promise<string> {
  return path`/apps/${app}` + ((await isGuest(session, app)) ? '/my-plugins' : '');
}

async function extensionPointPage(session: PluginSession, id: string, plugin?: PluginPlace): Promise<string> {
  const { appId } = await session.api.get(path`/api/v1/extension-points/${id}`, extensionPointSchema);
  if (await isGuest(session, appId)) {
    return path`/apps/${appId}/my-plugins/${id}` + (plugin === undefined ? '' : path`/${plugin.name}`);
  }
  const below = plugin === undefined ? '' : path`/plugins/${plugin.user}/${plugin.name}`;
  return path`/apps/${appId}/extension-points/${id}` + below;
}

async function pluginPage(session: PluginSession, plugin: PluginPlace): Promise<string> {
  await session.api.get(plugin.path, pluginSchema); // an id may be of a plugin that isn't there
  return extensionPointPage(session, plugin.extensionPoint, plugin);
}

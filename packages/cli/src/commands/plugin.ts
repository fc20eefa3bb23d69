import { plugin, pluginSummary } from '@tenon/protocol';
import { path } from '../api.ts';
import { type Command, withApp, withExtensionPoint, withServer } from '../command.ts';
import type { Io } from '../io.ts';
import { type ListOptions, showList, withLimit } from '../listing.ts';
import { callingForPlugin, type PluginSession, withProjectFolder } from '../project/plugin-session.ts';
import { stateInWords } from '../project/plugin-words.ts';
import { resolveApp, resolveExtensionPoint } from '../resolve.ts';
import { formatSize, formatTime } from '../text.ts';
import { addOwnYankCommands } from './mass-yank.ts';
import { addAttachCommand } from './plugin-attach.ts';
import { addCallCommand } from './plugin-call.ts';
import { addControlCommands } from './plugin-control.ts';
import { addInitCommand } from './plugin-init.ts';
import { addPushCommand } from './plugin-push.ts';
import { addRunCommands } from './plugin-runs.ts';
import { addSbomCommand } from './plugin-sbom.ts';
import { addTestCommand } from './plugin-test.ts';
import { addTestedCommands } from './plugin-tested.ts';
import { addTrustCommands } from './plugin-trust.ts';
import { addVerifyCommand } from './plugin-verify.ts';
import { addVersionCommands } from './plugin-versions.ts';

export function addPluginCommands(program: Command, io: Io): void {
  const group = program
    .command('plugin')
    .description('plugins: WebAssembly modules published against an extension point');
  addInitCommand(group, io);
  addTestCommand(group, io);
  addPushCommand(group, io);
  addCallCommand(group, io);
  addListCommand(group, io);
  addVersionCommands(group, io);
  addAttachCommand(group, io);
  addVerifyCommand(group, io);
  addSbomCommand(group, io);
  addRunCommands(group, io);
  addTestedCommands(group, io);
  addControlCommands(group, io);
  addOwnYankCommands(group, io);
  addTrustCommands(group, io);
}

interface PluginListOptions extends ListOptions {
  readonly app?: string;
  readonly extensionPoint?: string;
}

function addListCommand(group: Command, io: Io): void {
  group
    .command('list')
    .description('list the plugins of an application or extension point')
    .use((command) => withExtensionPoint(command, "tenon.toml's, else TENON_EXTENSION_POINT_ID, else all"))
    .use(withApp, withProjectFolder, withLimit, withServer)
    .examples('tenon plugin list', 'tenon plugin list --app Editor', 'tenon plugin list -e Formulas --json')
    .addHelpText('after', 'With --app alone, it lists the plugins of all extension points.')
    .action(callingForPlugin(io, listPlugins));
}

async function listPlugins(session: PluginSession, options: PluginListOptions): Promise<void> {
  const { app, extensionPoint } = options;
  const { connection, project } = session;
  const ofPoint = project?.settings.extensionPoint ?? connection.extensionPointId;
  if (extensionPoint === undefined && (app !== undefined || ofPoint === undefined)) {
    return listOfApp(session, options, await resolveApp(session, app));
  }
  return listOfPoint(session, options, await resolveExtensionPoint(session, extensionPoint ?? ofPoint, app));
}

async function listOfApp(session: PluginSession, options: ListOptions, appId: string): Promise<void> {
  await showList(session, options, path`/api/v1/apps/${appId}/plugins`, pluginSummary, {
    headings: ['NAME', 'EXTENSION POINT', 'VERSION', 'STATE', 'SIZE', 'GUESTS', 'PUBLISHED BY', 'UPDATED'],
    row: (plugin) => [
      plugin.name,
      plugin.extensionPoint.name,
      String(plugin.version.number),
      stateInWords(plugin.state),
      formatSize(plugin.size),
      `${plugin.guestCount}${plugin.hasMoreGuests ? '+' : ''}`,
      plugin.user.name,
      formatTime(plugin.updatedAt),
    ],
    whenEmpty,
  });
}

async function listOfPoint(session: PluginSession, options: ListOptions, extensionPointId: string): Promise<void> {
  await showList(session, options, path`/api/v1/extension-points/${extensionPointId}/plugins`, plugin, {
    headings: ['NAME', 'VERSION', 'STATE', 'SIZE', 'GUESTS', 'PUBLISHED BY', 'CONTENT ADDRESS', 'UPDATED'],
    row: ({ status, ...one }) => [
      one.name,
      String(one.version.number),
      stateInWords(status.state),
      formatSize(one.size),
      `${one.guestIds.length}${one.hasMoreGuests ? '+' : ''}`,
      one.userId,
      one.contentAddress,
      formatTime(one.updatedAt),
    ],
    whenEmpty,
  });
}

const whenEmpty = 'Nothing is published here yet. Publish a plugin with `tenon plugin push <module>`.';

import { plugin as pluginSchema } from '@tenon/protocol';
import { path } from '../api.ts';
import { type Command, withServer } from '../command.ts';
import type { Io } from '../io.ts';
import { type ListOptions, showList, withLimit } from '../listing.ts';
import { callingForPlugin, type PluginSession, pluginExtensionPoint, withProject } from '../project/plugin-session.ts';
import { stateInWords } from '../project/plugin-words.ts';
import { formatSize, formatTime } from '../text.ts';
import { addCallCommand } from './plugin-call.ts';
import { addControlCommands } from './plugin-control.ts';
import { addInitCommand } from './plugin-init.ts';
import { addPushCommand } from './plugin-push.ts';
import { addVersionCommands } from './plugin-versions.ts';

export function addPluginCommands(program: Command, io: Io): void {
  const group = program
    .command('plugin')
    .description('plugins: WebAssembly modules published against an extension point');
  addInitCommand(group, io);
  addPushCommand(group, io);
  addCallCommand(group, io);
  addListCommand(group, io);
  addVersionCommands(group, io);
  addControlCommands(group, io);
}

function addListCommand(group: Command, io: Io): void {
  group
    .command('list')
    .description('list the plugins published against an extension point')
    .use(withProject, withLimit, withServer)
    .examples('tenon plugin list', 'tenon plugin list --extension-point ext_01j29hxk3… --json')
    .action(callingForPlugin(io, listPlugins));
}

async function listPlugins(session: PluginSession, options: ListOptions & { extensionPoint?: string }): Promise<void> {
  const extensionPoint = await pluginExtensionPoint(session, options);
  await showList(session, options, path`/api/v1/extension-points/${extensionPoint}/plugins`, pluginSchema, {
    headings: ['NAME', 'VERSION', 'STATE', 'SIZE', 'GUESTS', 'PUBLISHED BY', 'CONTENT ADDRESS', 'UPDATED'],
    row: (plugin) => [
      plugin.name,
      String(plugin.version.number),
      stateInWords(plugin.status.state),
      formatSize(plugin.size),
      `${plugin.guestIds.length}${plugin.hasMoreGuests ? '+' : ''}`,
      plugin.userId,
      plugin.contentAddress,
      formatTime(plugin.updatedAt),
    ],
    whenEmpty: 'Nothing is published here yet. Publish a plugin with `tenon plugin push <module>`.',
  });
}

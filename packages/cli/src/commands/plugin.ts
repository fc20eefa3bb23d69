import { basename } from 'node:path';
import {
  isPluginName,
  me as meSchema,
  type Plugin,
  pluginNamePattern,
  plugin as pluginSchema,
  publishedPlugin,
} from '@tenon/protocol';
import type { Command } from 'commander';
import { path } from '../api.ts';
import { examples, withExtensionPoint, withServer } from '../command.ts';
import { usageError } from '../errors.ts';
import { readInput, standardStream } from '../files.ts';
import type { Io } from '../io.ts';
import { createProgress } from '../progress.ts';
import { calling, demandExtensionPoint, type Session } from '../session.ts';
import { count, formatSize, formatTime, printable } from '../text.ts';

export function addPluginCommands(program: Command, io: Io): void {
  const group = program
    .command('plugin')
    .description('plugins: WebAssembly modules published against an extension point');

  withServer(
    withExtensionPoint(
      group
        .command('push')
        .argument('<file>', 'the module; "-" reads stdin')
        .option('--name <name>', "the plugin's name (default: the file's, without .wasm)")
        .option('--guest <guest>', 'bind it under this guest of yours alone (default: all that you hold there)')
        .description('publish a plugin, or its next version'),
    ),
  )
    .addHelpText(
      'after',
      examples(
        'tenon plugin push greet.wasm',
        'tenon plugin push target/wasm32-unknown-unknown/release/greet.wasm --name greet',
      ),
    )
    .action(calling(io, pushPlugin));

  withServer(
    withExtensionPoint(group.command('list').description('list the plugins published against an extension point')),
  )
    .addHelpText('after', examples('tenon plugin list', 'tenon plugin list --extension-point ext_01j29hxk3… --json'))
    .action(calling(io, listPlugins));
}

async function pushPlugin(
  session: Session,
  options: { extensionPoint?: string; name?: string; guest?: string },
  file: string,
): Promise<void> {
  const { api, io, out } = session;
  const extensionPoint = demandExtensionPoint(session, options);
  const name = options.name ?? nameOfFile(file);
  if (!isPluginName(name)) {
    throw usageError(`"${name}" can't name a plugin: names match ${pluginNamePattern}.`, 'Give it one with --name.');
  }
  const bytes = await readInput(io, file, 'the module');
  const { id: user } = await api.get('/api/v1/me', meSchema);
  const query = options.guest === undefined ? '' : `?guest=${encodeURIComponent(options.guest)}`;
  const target = path`/api/v1/artifacts/${extensionPoint}/plugin/${user}/${name}` + query;
  const progress = createProgress(io, !out.isJson, 'Uploading', bytes.length);
  const upload = { bytes, contentType: 'application/wasm', onSent: progress.advance };
  const published = await api.upload(target, upload, publishedPlugin).finally(progress.end);
  const guests = count(published.guestIds.length, 'guest');
  const version = `version ${published.version.number} (${formatSize(published.size)})`;
  out.note(
    published.isNewVersion
      ? `Published ${name}, ${version}, under ${guests}.`
      : `These bytes are ${name}'s ${version} already: no version was made. It is bound under ${guests}.`,
  );
  out.result(published, () => out.write(`${published.contentAddress}\n`));
}

function nameOfFile(file: string): string {
  if (file === standardStream) throw usageError('What is read from stdin has no name.', 'Give it one with --name.');
  return basename(file).replace(/\.wasm$/i, '');
}

async function listPlugins(session: Session, options: { extensionPoint?: string }): Promise<void> {
  const { api, out } = session;
  const extensionPoint = demandExtensionPoint(session, options);
  const plugins = await api.list(path`/api/v1/extension-points/${extensionPoint}/plugins`, pluginSchema);
  out.result(plugins, () =>
    out.table(
      ['NAME', 'VERSION', 'SIZE', 'GUESTS', 'PUBLISHED BY', 'CONTENT ADDRESS', 'UPDATED'],
      plugins.map((plugin: Plugin) => [
        printable(plugin.name),
        String(plugin.version.number),
        formatSize(plugin.size),
        String(plugin.guestIds.length),
        plugin.userId,
        plugin.contentAddress,
        formatTime(plugin.updatedAt),
      ]),
      'Nothing is published here yet. Publish a plugin with `tenon plugin push <file>`.',
    ),
  );
}

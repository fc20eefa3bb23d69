import { type ExtensionPoint, extensionPoint as extensionPointSchema, savedExtensionPoint } from '@tenon/protocol';
import { path } from '../api.ts';
import { type Command, withApp, withConfirmation, withExtensionPoint, withServer } from '../command.ts';
import { confirm } from '../confirm.ts';
import { usageError } from '../errors.ts';
import { type SettingFlags, settingFields, shownSettings, withSettings } from '../extension-point-settings.ts';
import type { Io } from '../io.ts';
import { type ListOptions, showList, withLimit } from '../listing.ts';
import { resolveApp, resolveExtensionPoint, resolveNamedExtensionPoint } from '../resolve.ts';
import { readSchemaText, schemaHelp, showWarnings } from '../schema-file.ts';
import { calling, type Session } from '../session.ts';
import { formatTime, printable } from '../text.ts';
import { addCheckCommand } from './extension-point-check.ts';
import { addRevisionsCommand } from './extension-point-revisions.ts';
import { addSimulationCommands } from './extension-point-simulation.ts';
import { addTrialCommand } from './extension-point-trial.ts';
import { addWithdrawalCommands } from './extension-point-withdrawals.ts';

interface Choice {
  readonly extensionPoint?: string;
}

interface Fields extends SettingFlags {
  readonly name?: string | undefined;
  readonly schema?: string | undefined;
}

export function addExtensionPointCommands(program: Command, io: Io): void {
  const group = program
    .command('extension-point')
    .alias('ext')
    .description('extension points: the interfaces that plugins implement');

  group
    .command('list')
    .description('list the extension points of an application')
    .use(withApp, withLimit, withServer)
    .examples('tenon extension-point list', 'tenon extension-point list --app app_01j29hxk3… --json')
    .action(calling(io, listExtensionPoints));

  group
    .command('create')
    .argument('<name>')
    .option('--schema <file>', schemaHelp)
    .description('create an extension point in an application')
    .use(withSettings, withApp, withServer)
    .examples(
      'tenon extension-point create Greetings --schema schema.yaml',
      "echo 'exports: [greet]' | tenon extension-point create Greetings --schema -",
    )
    .action(calling(io, createExtensionPoint));

  group
    .command('show')
    .description('show one extension point and its schema')
    .use(withExtensionPoint, withServer)
    .examples('tenon extension-point show', 'tenon extension-point show -e Greetings')
    .action(
      calling(io, async (session, options: Choice) => {
        const { api, out } = session;
        const id = await resolveExtensionPoint(session, options.extensionPoint);
        showExtensionPoint(out, await api.get(path`/api/v1/extension-points/${id}`, extensionPointSchema));
      }),
    );

  group
    .command('update')
    .option('--name <name>', 'the new name')
    .option('--schema <file>', schemaHelp)
    .description('change the name, schema, or limits; options that are not given stay as they are')
    .use(withSettings, withExtensionPoint, withServer)
    .examples(
      'tenon extension-point update --schema schema.yaml',
      'tenon extension-point update -e Greetings --requires-approval --max-module-size 2MiB --no-wasi',
    )
    .action(calling(io, updateExtensionPoint));

  addTrialCommand(group, io);
  addSimulationCommands(group, io);
  addRevisionsCommand(group, io);
  addCheckCommand(group, io);
  addWithdrawalCommands(group, io);

  group
    .command('delete')
    .description('delete an extension point with the plugins published against it')
    .use(withExtensionPoint, withConfirmation, withServer)
    .examples('tenon extension-point delete -e ext_01j29hxk3…')
    .action(calling(io, deleteExtensionPoint));
}

async function listExtensionPoints(session: Session, options: ListOptions & { app?: string }): Promise<void> {
  const app = await resolveApp(session, options.app);
  await showList(session, options, path`/api/v1/apps/${app}/extension-points`, extensionPointSchema, {
    headings: ['NAME', 'ID', 'EXPORTS', 'UPDATED'],
    row: (extensionPoint) => [
      extensionPoint.name,
      extensionPoint.id,
      Object.keys(extensionPoint.schema.exports).join(', ') || 'any',
      formatTime(extensionPoint.updatedAt),
    ],
    whenEmpty: 'It has no extension point yet. Make one with `tenon extension-point create <name>`.',
  });
}

async function createExtensionPoint(session: Session, options: Fields & { app?: string }, name: string): Promise<void> {
  const { api, out } = session;
  const app = await resolveApp(session, options.app);
  const body = { name, ...settingFields(options), ...(await readSchema(session, options)) };
  const made = await api.send('POST', path`/api/v1/apps/${app}/extension-points`, body, savedExtensionPoint);
  showWarnings(out, made.warnings);
  out.note(`Created the extension point "${printable(made.name)}". Its id:`);
  out.result(made, () => out.write(`${made.id}\n`));
}

async function updateExtensionPoint(session: Session, options: Fields & Choice): Promise<void> {
  const { api, out } = session;
  const settings = settingFields(options);
  if (options.name === undefined && options.schema === undefined && Object.keys(settings).length === 0) {
    throw usageError('There is nothing to change.', 'Give it another --name or --schema, or other settings.');
  }
  const body = { name: options.name, ...settings, ...(await readSchema(session, options)) };
  const id = await resolveExtensionPoint(session, options.extensionPoint);
  const changed = await api.send('PUT', path`/api/v1/extension-points/${id}`, body, savedExtensionPoint);
  showWarnings(out, changed.warnings);
  out.result(changed, () => out.note(`Updated the extension point "${printable(changed.name)}".`));
}

async function readSchema({ io }: Session, { schema }: Fields): Promise<{ schema?: string }> {
  return schema === undefined ? {} : { schema: await readSchemaText(io, schema) };
}

async function deleteExtensionPoint(session: Session, options: Choice & { yes?: boolean }): Promise<void> {
  const { api, io, out } = session;
  const id = await resolveNamedExtensionPoint(session, options.extensionPoint);
  const { name } = await api.get(path`/api/v1/extension-points/${id}`, extensionPointSchema);
  const what = `The extension point "${printable(name)}" will be deleted with every plugin that is published against it.`;
  await confirm(io, what, options);
  await api.remove(path`/api/v1/extension-points/${id}`);
  out.result({ deleted: id }, () => out.note(`Deleted the extension point "${printable(name)}".`));
}

function showExtensionPoint(out: Session['out'], extensionPoint: ExtensionPoint): void {
  out.result(extensionPoint, () =>
    out.fields([
      ['name', extensionPoint.name],
      ['id', extensionPoint.id],
      ['application', extensionPoint.appId],
      ['created', formatTime(extensionPoint.createdAt)],
      ['updated', formatTime(extensionPoint.updatedAt)],
      ...shownSettings(extensionPoint),
      ['schema', JSON.stringify(extensionPoint.schema, null, 2).split('\n')],
    ]),
  );
}

import {
  extensionPoint as extensionPointSchema,
  guest as guestSchema,
  ociReferencesOf,
  type Plugin,
  plugin as pluginSchema,
  type RollOutPlan,
  type Version,
  versionDiff as versionDiffSchema,
  version as versionSchema,
} from '@tenon/protocol';
import { InvalidArgumentError } from 'commander';
import { path } from '../api.ts';
import { type Command, withConfirmation, withServer } from '../command.ts';
import { showComparison } from '../comparison.ts';
import { confirm } from '../confirm.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { type ListOptions, showList, withLimit } from '../listing.ts';
import { findPlugin, type PluginChoice, type PluginPlace } from '../project/plugin-reference.ts';
import { callingForPlugin, type PluginSession, withProject } from '../project/plugin-session.ts';
import { stateInWords } from '../project/plugin-words.ts';
import { verdictCell } from '../project/version-verdict.ts';
import { type PlanOptions, planField, withPlan } from '../roll-out-plan.ts';
import { countGuests, formatSize, formatTime, printable, shellWord } from '../text.ts';

const pluginHelp = "its name, or its id ext_…/plugin/usr_…/<name> (default: tenon.toml's)";

/** Adds the argument and the options of a command about one plugin. */
export function aboutPlugin(command: Command): Command {
  return command.argument('[plugin]', pluginHelp).use(withProject, withServer);
}

/** One version of a plugin, as an argument names it. */
export interface VersionReference {
  /** A name or an id; that of `tenon.toml` when it is left out. */
  readonly plugin: string | undefined;
  readonly number: number;
}

/** Adds the argument and the options of a command about one version of a plugin. */
export function aboutVersion(command: Command): Command {
  const help = "such as greet@3, with the plugin's name or id; @3 means tenon.toml's plugin";
  return command.argument('<plugin@version>', help, parseVersion).use(withProject, withServer);
}

/** Adds the plan of a roll-out, for commands that publish a version. */
export function withReleasePlan(command: Command): Command {
  return withPlan(command, "the extension point's plan, else all");
}

/** A plugin and perhaps a version of it. */
export interface OptionalVersion {
  readonly plugin: string | undefined;
  readonly number: number | undefined;
}

/** Reads `greet`, `greet@3` or `@3`. */
export function optionalVersion(text: string | undefined): OptionalVersion {
  return text === undefined || !text.includes('@') ? { plugin: text, number: undefined } : parseVersion(text);
}

function parseVersion(text: string): VersionReference {
  const [, plugin, digits] = /^(.*)@(\d{1,10})$/s.exec(text) ?? [];
  const number = Number(digits);
  if (!isVersionNumber(number)) {
    throw new InvalidArgumentError('It takes a plugin and the number of a version, such as greet@3 or @3.');
  }
  return { plugin: plugin || undefined, number };
}

function parseNumber(text: string): number {
  const number = Number(text);
  if (!isVersionNumber(number)) throw new InvalidArgumentError('It takes the number of a version, such as 2.');
  return number;
}

function isVersionNumber(number: number): boolean {
  return Number.isInteger(number) && number >= 1 && number <= 2 ** 31;
}

export function addVersionCommands(group: Command, io: Io): void {
  aboutPlugin(
    group.command('status').description('show the status of a plugin: its state, its bindings, and the reasons'),
  )
    .examples('tenon plugin status', 'tenon plugin status greet --json')
    .action(callingForPlugin(io, showStatus));

  aboutPlugin(group.command('versions').description("list a plugin's versions, newest first").use(withLimit))
    .examples('tenon plugin versions', "tenon plugin versions greet --json | jq -r '.[0].number'")
    .action(callingForPlugin(io, listVersions));

  aboutVersion(
    group
      .command('diff')
      .option('--against <number>', 'another version (default: the newest other one that is bound)', parseNumber)
      .description("compare a version's module with that of another version"),
  )
    .examples('tenon plugin diff greet@3', 'tenon plugin diff @3 --against 1 --json')
    .addHelpText('after', `To compare files: tenon inspect <module> --against <module>`)
    .action(callingForPlugin(io, showDiff));

  aboutVersion(group.command('rollback').description('bind an older published version until the next publish'))
    .examples('tenon plugin rollback greet@3', 'tenon plugin rollback @3')
    .addHelpText('after', `To end a rollback, roll back to the newest version.`)
    .action(callingForPlugin(io, rollBack));

  aboutVersion(
    group
      .command('yank')
      .requiredOption('--reason <text>', 'the reason, shown with the version')
      .description('withdraw a version: it is unbound everywhere until you restore it'),
  )
    .examples('tenon plugin yank greet@3 --reason "Divides by zero on empty ranges"')
    .action(callingForPlugin(io, yank));

  aboutVersion(withReleasePlan(group.command('restore').description('undo the yank of a version')))
    .examples('tenon plugin restore greet@3', 'tenon plugin restore greet@3 --roll-out ring:staff:1h,10%:1d,100%')
    .action(
      callingForPlugin(io, (session: PluginSession, options: PluginChoice & PlanOptions, version: VersionReference) =>
        decide(session, options, version, 'restore', planField(options)),
      ),
    );

  aboutPlugin(
    group.command('delete').description('delete a plugin with its versions and bindings').use(withConfirmation),
  )
    .examples('tenon plugin delete greet')
    .action(callingForPlugin(io, deletePlugin));
}

async function showStatus(session: PluginSession, options: PluginChoice, named?: string): Promise<void> {
  const { api, out } = session;
  const place = await findPlugin(session, options, named, 'publisher');
  const plugin = await api.get(place.path, pluginSchema);
  const guestKeys = out.isJson ? new Map<string, string>() : await readGuestKeys(session, plugin);
  const { oci } = await api.get(`${place.path}/versions/${plugin.version.number}`, versionSchema);
  out.result({ ...plugin, oci }, () => showPlugin(session, plugin, oci, guestKeys));
}

const maxNamedGuests = 20;

/** The guest keys of a plugin's guests, by guest id. Empty if the user may not see them: only the application's team may. */
async function readGuestKeys(
  { api }: PluginSession,
  { extensionPointId, status }: Plugin,
): Promise<ReadonlyMap<string, string>> {
  try {
    const { appId } = await api.get(path`/api/v1/extension-points/${extensionPointId}`, extensionPointSchema);
    const guests = status.bindings
      .slice(0, maxNamedGuests)
      .map(({ guestId }) => api.get(path`/api/v1/apps/${appId}/guests/${guestId}`, guestSchema));
    return new Map((await Promise.all(guests)).map(({ id, guestKey }) => [id, guestKey]));
  } catch (error) {
    if (error instanceof CliError && (error.exitCode === exitCodes.notFound || error.exitCode === exitCodes.denied)) {
      return new Map();
    }
    throw error;
  }
}

function showPlugin(
  { out }: PluginSession,
  plugin: Plugin,
  oci: Version['oci'],
  guestKeys: ReadonlyMap<string, string>,
): void {
  const { version, status } = plugin;
  const { byTag, byDigest } = ociReferencesOf(oci, status.state === 'blocked');
  const bound = status.bindings.map((binding) => bindingInWords(binding, guestKeys));
  out.fields([
    ['plugin', plugin.name],
    ['id', plugin.id],
    ...(plugin.description === null ? [] : [['description', plugin.description] as const]),
    ...(plugin.homepage === null ? [] : [['homepage', plugin.homepage] as const]),
    ['state', stateInWords(status.state)],
    ...(status.reason === null ? [] : [['reason', status.reason] as const]),
    ['in words', status.detail],
    ['newest', newestInWords(plugin)],
    ['verdict', verdictCell(version)],
    ...(version.note === null ? [] : [['note', version.note] as const]),
    ['content address', plugin.contentAddress],
    ['OCI reference', byTag === undefined ? byDigest : [byTag, byDigest]],
    ['bound', bound.length === 0 ? 'nowhere' : bound],
  ]);
}

function newestInWords({ version, size }: Plugin): string {
  const semver = version.semver === null ? '' : ` (${printable(version.semver)})`;
  return `version ${version.number}${semver}, ${stateInWords(version.state)}, ${formatSize(size)}, ${formatTime(version.createdAt)}`;
}

function bindingInWords(
  { guestId, version, pinnedTo, rolledBackTo }: Plugin['status']['bindings'][number],
  guestKeys: ReadonlyMap<string, string>,
): string {
  const guestKey = guestKeys.get(guestId);
  const guest = guestKey === undefined ? guestId : printable(guestKey);
  const bound = version === null ? 'nothing' : `version ${version}`;
  if (pinnedTo === null) return `${guest}  ${bound}${rolledBackTo === null ? '' : ', rolled back'}`;
  return `${guest}  ${bound}, pinned ${pinnedTo === version ? '' : `to version ${pinnedTo} `}by the team`;
}

async function listVersions(
  session: PluginSession,
  options: PluginChoice & ListOptions,
  named?: string,
): Promise<void> {
  const place = await findPlugin(session, options, named, 'publisher');
  const [newest] = await showList(session, options, `${place.path}/versions`, versionSchema, {
    headings: ['VERSION', 'SEMVER', 'STATE', 'VERDICT', 'BOUND', 'SIZE', 'PUBLISHED', 'CONTENT ADDRESS', 'NOTE'],
    row: (version) => [
      String(version.number),
      version.semver ?? '-',
      stateInWords(version.state),
      verdictCell(version),
      version.boundGuestIds.length === 0 ? '-' : countGuests(version.boundGuestIds, version.hasMoreGuests),
      formatSize(version.size),
      formatTime(version.createdAt),
      version.contentAddress,
      noteOf(version),
    ],
    whenEmpty: 'It has no versions.',
  });
  if (newest !== undefined) session.out.note(`OCI repository: ${printable(newest.oci.repository)}`);
}

/** Says which version a comparison is with; `null` for none. */
export function comparedWith(against: number | null): string {
  return against === null ? 'No other version is bound.' : `Compared with version ${against}.`;
}

async function showDiff(
  session: PluginSession,
  options: PluginChoice & { readonly against?: number },
  { plugin: named, number }: VersionReference,
): Promise<void> {
  const { api, out } = session;
  const place = await findPlugin(session, options, named, 'publisher');
  const query = options.against === undefined ? '' : `?against=${options.against}`;
  const diff = await api.get(`${place.path}/versions/${number}/diff${query}`, versionDiffSchema);
  out.result(diff, () => {
    out.note(comparedWith(diff.against));
    showComparison(out, diff);
  });
}

function noteOf({ note, state, stateReason }: Version): string {
  const why = stateReason === null ? [] : [`${stateInWords(state)}: ${printable(stateReason)}`];
  return [...(note === null ? [] : [printable(note)]), ...why].join(' · ');
}

async function rollBack(
  session: PluginSession,
  options: PluginChoice,
  { plugin: named, number: version }: VersionReference,
): Promise<void> {
  const { api, out } = session;
  const place = await findPlugin(session, options, named, 'publisher');
  const sent = api.send('POST', `${place.path}/rollback`, { version }, pluginSchema);
  const plugin = await assertVersion(sent, version, place);
  const isNewest = plugin.version.number === version;
  const what = isNewest
    ? `${place.name} follows its newest version again.`
    : `Rolled ${place.name} back to version ${version}.`;
  out.result(plugin, () => out.note(`${what} ${printable(plugin.status.detail)}`));
}

/** Waits for a request that names a version in its body. @throws CliError that says so if the plugin has no such version */
export async function assertVersion<T>(sent: Promise<T>, version: number, place: PluginPlace): Promise<T> {
  try {
    return await sent;
  } catch (cause) {
    if (!(cause instanceof CliError) || !cause.problem?.errors?.some(({ pointer }) => pointer === '/version'))
      throw cause;
    const { code, exitCode, requestId } = cause;
    const reference = shellWord(`${place.extensionPoint}/plugin/${place.user}/${place.name}`);
    const hint = `To see its versions: tenon plugin versions ${reference}`;
    throw new CliError(code, `${place.name} has no version ${version}.`, { exitCode, hint, requestId, cause });
  }
}

async function yank(
  session: PluginSession,
  options: PluginChoice & { reason: string },
  version: VersionReference,
): Promise<void> {
  await decide(session, options, version, 'yank', { reason: options.reason });
}

/** Decides on a version as its publisher, or as the application's team. */
async function decide(
  session: PluginSession,
  options: PluginChoice,
  { plugin: named, number }: VersionReference,
  decision: 'yank' | 'restore',
  body: { readonly reason?: string; readonly rollOut?: RollOutPlan | null },
): Promise<void> {
  const { api, out } = session;
  const place = await findPlugin(session, options, named, 'publisher');
  const address = `${place.path}/versions/${number}/${decision}`;
  const sent = Object.keys(body).length === 0 ? undefined : body;
  const version = await api.send('POST', address, sent, versionSchema);
  const { status } = await api.get(place.path, pluginSchema);
  const what = decision === 'yank' ? 'Yanked' : 'Restored';
  out.result(version, () => out.note(`${what} version ${number} of ${place.name}. ${printable(status.detail)}`));
}

async function deletePlugin(
  session: PluginSession,
  options: PluginChoice & { yes?: boolean },
  named?: string,
): Promise<void> {
  const { api, io, out } = session;
  const place = await findPlugin(session, options, named, 'publisher');
  const { id, guestIds, hasMoreGuests } = await api.get(place.path, pluginSchema);
  const bound = guestIds.length === 0 ? '' : ` It is active for ${countGuests(guestIds, hasMoreGuests)}.`;
  await confirm(io, `The plugin ${printable(id)} will be deleted with all of its versions.${bound}`, options);
  await api.remove(place.path);
  out.result({ deleted: id }, () => out.note(`Deleted ${printable(id)}.`));
}

import { basename } from 'node:path';
import {
  isPluginName,
  me as meSchema,
  type PublishedPlugin,
  pluginNamePattern,
  plugin as pluginSchema,
  publishedPlugin,
  type SimilarPlugin,
} from '@tenon/protocol';
import { path } from '../api.ts';
import { tokenOfJob } from '../ci/trusted-publishing.ts';
import { type Command, withServer } from '../command.ts';
import { CliError, usageError } from '../errors.ts';
import { readInput, standardStream } from '../files.ts';
import { formBody } from '../form-body.ts';
import type { Io } from '../io.ts';
import { createProgress } from '../progress.ts';
import { moduleFile, whichModule } from '../project/module-file.ts';
import { putAbout, readAbout } from '../project/plugin-about.ts';
import { callingForPlugin, type PluginSession, pluginExtensionPoint, withProject } from '../project/plugin-session.ts';
import type { Project } from '../project/project.ts';
import { assertVerdict, awaitVerdict } from '../project/version-verdict.ts';
import type { ObtainToken } from '../session.ts';
import { exitCodeOfVerdict } from '../testing/test-run.ts';
import { count, countGuests, formatSize, printable } from '../text.ts';

interface Options {
  readonly extensionPoint?: string;
  readonly name?: string;
  readonly guest?: string;
  readonly semver?: string;
  readonly note?: string;
  readonly provenance?: string;
  readonly sbom?: string;
  readonly build?: boolean | undefined;
  readonly dryRun?: boolean;
  readonly wait: boolean;
  readonly idTokenFile?: string;
}

export function addPushCommand(group: Command, io: Io): void {
  group
    .command('push')
    .argument('[module]', 'the module; "-" reads stdin (default: that of tenon.toml)')
    .option('--name <name>', "the plugin's name (default: tenon.toml's, else the file's, without .wasm)")
    .option('--build', "run tenon.toml's build command first")
    .option('--guest <guest>', 'bind it under this guest of yours alone (default: all that you hold there)')
    .option('--semver <version>', 'the semantic version that you call it')
    .option('--note <text>', 'what you say of it')
    .option('--provenance <file>', 'attach a Sigstore bundle with SLSA provenance')
    .option('--sbom <file>', 'attach a CycloneDX document, or a Sigstore bundle with one')
    .option('--dry-run', 'make all checks and show the result, without publishing')
    .option('--id-token-file <file>', 'in CI, the file with the identity token of the job (default: TENON_ID_TOKEN)')
    .option('--no-wait', "don't wait for the verdict of the extension point's simulations")
    .description('publish a plugin, or its next version')
    .use(withProject, withServer)
    .examples(
      'tenon plugin push --build',
      'tenon plugin push --dry-run --json',
      'tenon plugin push greet.wasm --extension-point ext_01j29hxk3…',
      'tenon plugin push --semver 1.2.0 --note "Greets in Greek"',
      'tenon plugin push --provenance bundle.json --sbom bom.json',
    )
    .addHelpText(
      'after',
      `The build command is run by the system's shell, in the folder of tenon.toml, as it stands there: with --build, or when you
confirm it because the module is not there yet. TENON_TOKEN is kept from it.
If the extension point has simulations, it waits for their verdict, and ends with the exit code of tenon plugin test.
With --dry-run, the server checks the module, your permissions, and the quotas as for a publish, and stores nothing. The exit
codes are those of a publish.
Without a token, in a CI job, it exchanges the identity token of the job for one that ends with the command: on GitHub and Forgejo
with the permission id-token: write, elsewhere from TENON_ID_TOKEN. A rule must allow it: tenon plugin trust add --help`,
    )
    .action(callingForPlugin(io, pushPlugin, tokenForPush));
}

async function pushPlugin(session: PluginSession, options: Options, file: string | undefined): Promise<void> {
  const { api, io, out, project } = session;
  const extensionPoint = await pluginExtensionPoint(session, options);
  const name = options.name ?? project?.settings.name ?? nameOfFile(file);
  if (!isPluginName(name)) {
    throw usageError(`"${name}" can't name a plugin: names match ${pluginNamePattern}.`, 'Give it one with --name.');
  }
  const { id: user } = await api.get('/api/v1/me', meSchema);
  const bytes = await readInput(io, await moduleFile(session, options, file), 'the module');
  const about = await readAbout(project);
  const place = path`/api/v1/artifacts/${extensionPoint}/plugin/${user}/${name}`;
  const target = place + queryOf(options, project);
  const isDryRun = options.dryRun === true;
  const body = await bodyOf(io, bytes, options);
  const progress = createProgress(io, !out.isJson, 'Uploading', body.bytes.length);
  const upload = { ...body, onSent: progress.advance };
  const published = await api
    .upload(target, upload, publishedPlugin)
    .catch(listMismatches(extensionPoint))
    .finally(progress.end);
  const plugin = { extensionPoint, user, name, path: place };
  const isTesting = published.version.state === 'testing' && options.wait && !isDryRun;
  const now = isTesting ? await afterVerdict(session, published, place) : published;
  const { state } = now.version;
  if (state !== 'failed') out.note(isDryRun ? expectedOutcome(now) : outcome(now));
  for (const other of published.similarPlugins ?? []) out.note(similarityWarning(other));
  if (about !== undefined && !isDryRun && (await putAbout(session, place, about))) out.note('Updated its description.');
  out.result(now, () => out.write(`${now.contentAddress}\n`));
  if (!isDryRun) await assertVerdict(session, plugin, now.version);
  else if (state === 'failed') throw failedDryRun(now);
}

/** Only members of the application's team get similar names. */
function similarityWarning({ name, user }: SimilarPlugin): string {
  return `Warning: the name is similar to that of the plugin ${name}, which ${printable(user.name)} publishes.`;
}

/** The module alone, or a form with the documents to attach. */
async function bodyOf(io: Io, bytes: Uint8Array, { provenance, sbom }: Options) {
  if (provenance === undefined && sbom === undefined) return { bytes, contentType: 'application/wasm' };
  const fields = new Map([['artifact', bytes]]);
  if (provenance !== undefined) fields.set('provenance', await readInput(io, provenance, 'the provenance'));
  if (sbom !== undefined) fields.set('sbom', await readInput(io, sbom, 'the SBOM'));
  return formBody(fields);
}

/** In a CI job without a token, gets one by trusted publishing. */
const tokenForPush: ObtainToken<{ readonly project: Project | undefined }, Options, [file: string | undefined]> = (
  { io, connection, target, found: { project } },
  options,
  file,
) => {
  const extensionPoint = options.extensionPoint ?? project?.settings.extensionPoint ?? connection.extensionPointId;
  const isUnnamed = file === undefined || file === standardStream;
  const name = options.name ?? project?.settings.name ?? (isUnnamed ? undefined : nameOfFile(file));
  return tokenOfJob(io, connection, target, { extensionPoint, name }, options.idTokenFile);
};

/** The plugin after the simulations of its newest version. */
async function afterVerdict(
  session: PluginSession,
  published: PublishedPlugin,
  place: string,
): Promise<PublishedPlugin> {
  const { number, state, stateReason, verdict } = await awaitVerdict(session, place, published.version.number);
  const { status } = await session.api.get(place, pluginSchema);
  return { ...published, status, version: { ...published.version, number, state, stateReason, verdict } };
}

function failedDryRun({ name, version: { verdict, stateReason } }: PublishedPlugin): CliError {
  const why = stateReason === null ? '' : ` ${printable(stateReason)}`;
  return new CliError('simulation_failed', `Dry run: ${name} fails the simulations. Nothing was published.${why}`, {
    exitCode: exitCodeOfVerdict[verdict ?? 'failed'],
    hint: 'To see which assertions fail: tenon plugin test --simulations',
  });
}

function nameOfFile(file: string | undefined): string {
  if (file === standardStream) throw usageError('What is read from stdin has no name.', 'Give it one with --name.');
  if (file === undefined) throw whichModule();
  return basename(file).replace(/\.wasm$/i, '');
}

function queryOf(options: Options, project: Project | undefined): string {
  const guest = options.guest ?? project?.settings.guest;
  const note = options.note ?? project?.settings.note;
  const query = new URLSearchParams();
  const dryRun = options.dryRun ? 'true' : undefined;
  for (const [key, value] of Object.entries({ guest, semver: options.semver, note, dryRun })) {
    if (value !== undefined) query.set(key, value);
  }
  return query.size === 0 ? '' : `?${query}`;
}

/** Says what came of it, and what hosts load from now on. */
function outcome({ name, version, size, status, guestIds, hasMoreGuests, isNewVersion }: PublishedPlugin): string {
  const what = `version ${version.number} (${formatSize(size)})`;
  if (!isNewVersion) {
    const standing =
      version.state === 'published'
        ? `It is active for ${countGuests(guestIds, hasMoreGuests)}.`
        : printable(status.detail);
    return `These bytes are ${name}'s ${what} already: no version was made. ${standing}`;
  }
  if (version.state !== 'published') return `Received ${name}, ${what}. ${printable(status.detail)}`;
  const pinned = status.bindings.filter(({ isPinned }) => isPinned);
  const held = pinned.length === 0 ? '' : ` ${printable(status.detail)}`;
  return `Published ${name}, ${what}, under ${countGuests(guestIds, hasMoreGuests)}.${held}`;
}

const expectedStates: Partial<Record<PublishedPlugin['version']['state'], string>> = {
  awaiting_approval: 'and would wait for approval',
  cooling_down: 'and would wait for its minimum age',
  testing: 'and would be tested',
  failed: 'and would fail the simulations',
};

/** Says what a publish would do. */
function expectedOutcome(published: PublishedPlugin): string {
  const { name, version, size, status, guestIds, hasMoreGuests, isNewVersion } = published;
  if (!isNewVersion) return `Dry run: nothing would be published. ${outcome(published)}`;
  const what = `version ${version.number} (${formatSize(size)})`;
  const isWaiting = version.state !== 'published';
  const then = expectedStates[version.state] ?? `under ${countGuests(guestIds, hasMoreGuests)}`;
  const pinned = isWaiting ? 0 : status.bindings.filter(({ isPinned }) => isPinned).length;
  const held = pinned === 0 ? '' : ` ${count(pinned, 'guest')} would keep the version that the team pinned.`;
  return `Dry run: ${name} would become ${what}, ${then}.${held} Nothing was published.`;
}

/** A module that doesn't fit is refused with a list: here each entry has its line. */
const listMismatches =
  (extensionPoint: string) =>
  (error: unknown): never => {
    if (!(error instanceof CliError) || error.code !== 'interface_mismatch') throw error;
    const faults = error.problem?.errors ?? [];
    throw new CliError(
      error.code,
      [
        'The module does not fit the extension point. Nothing was published.',
        ...faults.map(({ detail }) => `  ${printable(detail)}`),
      ].join('\n'),
      {
        exitCode: error.exitCode,
        problem: error.problem,
        hint: `To see what it expects: tenon extension-point show -e ${extensionPoint}. To check without publishing: tenon extension-point check`,
        cause: error,
      },
    );
  };

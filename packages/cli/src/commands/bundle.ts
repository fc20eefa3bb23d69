import { type Catalog, pluginsOf } from '../bundle/catalog.ts';
import { type ExtensionPointJudgement, judgeExtensionPoint } from '../bundle/extension-point-attestation.ts';
import { importBundle } from '../bundle/import-bundle.ts';
import { describeImport, type ImportReport, IncompleteImport, incompleteError } from '../bundle/import-report.ts';
import { referenceOf } from '../bundle/layout.ts';
import { type Bundle, withBundle } from '../bundle/open-bundle.ts';
import { type JudgedVersion, judgeBundle, requireAllowed, requireVerified } from '../bundle/verify-bundle.ts';
import { writeBundle, writeTo } from '../bundle/write-bundle.ts';
import type { Command } from '../command.ts';
import { withApp, withJson, withServer } from '../command.ts';
import { usageError } from '../errors.ts';
import { assertBinaryOutput, standardStream, writeFileWhole } from '../files.ts';
import type { Io } from '../io.ts';
import { createReporter, type Reporter, writeBytes } from '../output.ts';
import { readPinnedKeys } from '../provenance/keys.ts';
import { resolveApp, resolveExtensionPoint } from '../resolve.ts';
import { calling, type Session } from '../session.ts';
import { count, formatSize, printable } from '../text.ts';

const append = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];

const pinnedKeys = "a pinned signing key in PEM, or tenon signing-keys' JSON; may be repeated";

export function addBundleCommands(program: Command, io: Io): void {
  const group = program.command('bundle').description('files with plugins, to carry from one server to another');

  group
    .command('export')
    .option(
      '-e, --extension-point <extension-point>',
      'an extension point, by id or name; may be repeated (default: TENON_EXTENSION_POINT_ID, else the only one)',
      append,
    )
    .option('-o, --output <file>', 'the file to write; "-" is stdout', standardStream)
    .description('write the bound versions of extension points into a file')
    .use(withServer)
    .examples('tenon bundle export -e "Formula functions" -o plugins.tar')
    .addHelpText(
      'after',
      `The file is an OCI image layout in a tar archive, with modules, bindings, attestations, test results, and schemas. It has guest keys,
so only the application's team can make it. Equal states of the server give equal bytes.`,
    )
    .action(calling(io, exportBundle));

  group
    .command('show')
    .argument('<file>', 'the bundle')
    .option('--key <file>', pinnedKeys, append)
    .description('check a bundle on this machine, and list what it contains')
    .use(withJson)
    .examples('tenon bundle show plugins.tar', 'tenon bundle show plugins.tar --key keys.json --json')
    .addHelpText('after', 'It checks every digest. Without --key, it verifies no signature.')
    .action((file: string, options: ShowOptions) => showBundle(io, file, options));

  group
    .command('import')
    .argument('<file>', 'the bundle')
    .requiredOption('--key <file>', pinnedKeys, append)
    .requiredOption(
      '--allow <plugin>',
      'a plugin that may come in; "*" matches any characters; may be repeated',
      append,
    )
    .option('--allow-older', 'import a state although a newer one was imported before')
    .option('--dry-run', 'verify the bundle and show what would change')
    .description('verify a bundle on this machine, and publish its plugins')
    .use(withApp, withServer)
    .examples(
      "tenon bundle import plugins.tar --app Editor --key keys.json --allow '*'",
      "tenon bundle import plugins.tar --key keys.json --allow 'ext_01j29hxk3…/plugin/usr_01j29hxk3…/*' --dry-run",
    )
    .addHelpText(
      'after',
      `Nothing is sent before the whole bundle is verified, and nothing is published before the server has checked each version. You publish
the versions under the bundle's guest keys. Extension points are found by name, and created if they are missing. Repeat an import that
failed: it skips what is there.`,
    )
    .action(calling(io, importFile));
}

async function exportBundle(
  session: Session,
  { extensionPoint, output }: { readonly extensionPoint?: readonly string[]; readonly output: string },
): Promise<void> {
  const { io, out } = session;
  if (out.isJson && output === standardStream) {
    throw usageError('The bundle and the JSON can not both go to stdout.', 'Name a file with -o.');
  }
  assertBinaryOutput(io, output);
  const ids = new Set<string>();
  for (const one of extensionPoint ?? [undefined]) ids.add(await resolveExtensionPoint(session, one));
  let catalog: Catalog | undefined;
  if (output === standardStream) {
    catalog = await writeBundle(session, [...ids], (bytes) => writeBytes(io.stdout, bytes));
  } else {
    await writeFileWhole(output, async (file) => {
      catalog = await writeBundle(session, [...ids], writeTo(file));
    });
  }
  if (catalog === undefined) return;
  const plugins = pluginsOf(catalog).length;
  out.note(`Exported ${count(plugins, 'plugin')} of ${count(catalog.extensionPoints.length, 'extension point')}.`);
  if (out.isJson) out.result({ file: output, extensionPoints: [...ids].sort(), plugins }, () => {});
}

interface ShowOptions {
  readonly key?: readonly string[];
  readonly json?: boolean;
}

async function showBundle(io: Io, file: string, options: ShowOptions): Promise<void> {
  const out = createReporter(io, options.json === true);
  const keys = await readPinnedKeys(io, options.key ?? []);
  await io.interruptible((signal) =>
    withBundle(io, !out.isJson, file, signal, async (bundle) => {
      const judged: JudgedVersion[] = [];
      if (keys.length > 0) for await (const one of judgeBundle(bundle, keys)) judged.push(one);
      const states = new Map(judged.map(({ plugin, version, state }) => [`${plugin.id}@${version.number}`, state]));
      const judgements = new Map<string, ExtensionPointJudgement>();
      for (const one of keys.length > 0 ? bundle.catalog.extensionPoints : []) {
        judgements.set(one.id, await judgeExtensionPoint(bundle, keys, one));
      }
      const extensionPoints = bundle.catalog.extensionPoints.map((extensionPoint) => ({
        ...extensionPoint,
        ...toShown(judgements.get(extensionPoint.id)),
        plugins: extensionPoint.plugins.map((plugin) => ({
          ...plugin,
          versions: plugin.versions.map((version) => ({
            ...version,
            reference: referenceOf({ extensionPoint, plugin }, version.number),
            state: states.get(`${plugin.id}@${version.number}`) ?? 'unchecked',
          })),
        })),
      }));
      out.result({ bytes: bundle.bytes, extensionPoints }, () => {
        showTable(out, bundle, states);
        for (const { name, state, changedAt } of extensionPoints) out.note(describeState(name, state, changedAt));
      });
      if (keys.length > 0) await requireVerified(bundle, keys);
    }),
  );
}

/** The state of an extension point's attestation, and the newest change that it knows. */
function toShown(judged: ExtensionPointJudgement | undefined) {
  const changedAt = judged?.state === 'verified' ? judged.predicate.changedAt : null;
  return { state: judged?.state ?? 'unchecked', changedAt };
}

function describeState(name: string, state: string, changedAt: string | null): string {
  const time = changedAt === null ? '' : `, last changed at ${changedAt}`;
  return `${printable(name)}: bindings and schema ${state}${time}.`;
}

function showTable(out: Reporter, { catalog, bytes }: Bundle, states: ReadonlyMap<string, string>): void {
  const rows = pluginsOf(catalog).flatMap(({ extensionPoint, plugin }) =>
    plugin.versions.map((version) => [
      extensionPoint.name,
      plugin.userName,
      `${plugin.name}@${version.number}`,
      formatSize(version.size),
      plugin.bindings
        .filter((one) => one.version === version.number)
        .map(({ guestKey }) => guestKey)
        .join(', '),
      states.get(`${plugin.id}@${version.number}`) ?? 'unchecked',
    ]),
  );
  out.table(
    ['EXTENSION POINT', 'PUBLISHER', 'VERSION', 'SIZE', 'GUEST KEYS', 'SIGNATURE'],
    rows,
    'The bundle contains no plugin.',
  );
  out.note(`${formatSize(bytes)}; all digests are right.`);
}

interface ImportOptions {
  readonly app?: string;
  readonly key: readonly string[];
  readonly allow: readonly string[];
  readonly allowOlder?: boolean;
  readonly dryRun?: boolean;
}

async function importFile(
  session: Session,
  { app, key, allow, allowOlder: allowsOlder = false, dryRun: isDryRun = false }: ImportOptions,
  file: string,
): Promise<void> {
  const { io, out, signal } = session;
  const keys = await readPinnedKeys(io, key);
  await withBundle(io, !out.isJson, file, signal, async (bundle) => {
    requireAllowed(bundle, allow);
    const changes = await requireVerified(bundle, keys);
    const appId = await resolveApp(session, app);
    const target = { session, appId, isDryRun, keys, changes, allowsOlder };
    try {
      const report = await importBundle(target, bundle);
      showImport(out, report);
      out.note(describeImport(report, isDryRun));
    } catch (error) {
      if (!(error instanceof IncompleteImport)) throw error;
      showImport(out, error.report);
      throw incompleteError(error);
    }
  });
}

function showImport(out: Reporter, report: ImportReport): void {
  out.result(report, () =>
    out.table(
      ['PLUGIN', 'GUEST KEY', 'OUTCOME', 'VERSION', 'STATE'],
      report.versions.map(({ from, guestKey, outcome, version }) => [
        printable(from.split('/').at(-1) ?? ''),
        guestKey,
        outcome,
        version === null ? '-' : String(version.number),
        version?.state.replaceAll('_', ' ') ?? '-',
      ]),
      'The bundle contains no plugin.',
    ),
  );
}

import type { TrustedKey } from '@tenon/client/provenance';
import { type AttestationKind, attestation, plugin as pluginSchema, version as versionSchema } from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import { path } from '../api.ts';
import { type Command, withServer } from '../command.ts';
import { readVerified } from '../download.ts';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { readInput } from '../files.ts';
import type { Io } from '../io.ts';
import { createReporter, type Reporter } from '../output.ts';
import { findPlugin, type PluginChoice } from '../project/plugin-reference.ts';
import { callingForPlugin, type PluginSession, withProject } from '../project/plugin-session.ts';
import { addressOf } from '../provenance/address.ts';
import {
  type JudgedVersion,
  type Judgement,
  judgeAll,
  kindOfPredicate,
  overallState,
  publishPredicateType,
  withPublish,
} from '../provenance/judge.ts';
import { fetchTrustedKeys, readPinnedKeys } from '../provenance/keys.ts';
import type { SigstoreVerifier } from '../provenance/sigstore.ts';
import { readStatement } from '../provenance/statement.ts';
import { type Cell, printable } from '../text.ts';
import { type OptionalVersion, optionalVersion } from './plugin-versions.ts';

interface VerifyOptions extends PluginChoice {
  readonly key?: readonly string[];
  readonly trustedRoot?: readonly string[];
  readonly file?: string;
  readonly bundle?: readonly string[];
  readonly json?: boolean;
}

interface Attested {
  readonly kind: AttestationKind;
  readonly bundle: unknown;
}

const append = (file: string, before: readonly string[] = []): readonly string[] => [...before, file];

export function addVerifyCommand(group: Command, io: Io): void {
  const online = callingForPlugin(io, verifyAtServer);
  group
    .command('verify')
    .argument('[plugin@version]', "such as greet or greet@3, with the plugin's name or id (default: tenon.toml's)")
    .description('download a version and its attestations, and verify them on this machine')
    .option('--key <file>', "a pinned signing key in PEM, or tenon signing-keys' JSON; may be repeated", append)
    .option(
      '--trusted-root <file>',
      "a Sigstore trusted root, for the publisher's attestations; may be repeated",
      append,
    )
    .option('--file <module>', 'verify this module, without a server; needs --bundle and --key')
    .option('--bundle <file>', 'with --file: an attestation, or the JSON of the API; may be repeated', append)
    .use(withProject, withServer)
    .examples(
      'tenon signing-keys --json > keys.json',
      'tenon plugin verify greet@3 --key keys.json',
      'tenon plugin verify --file greet.wasm --bundle greet.sigstore.json --key keys.json',
    )
    .addHelpText(
      'after',
      `Exit codes: ${exitCodes.success} verified, ${exitCodes.provenanceFailed} failed, ${exitCodes.provenanceAbsent} absent. Attestations are unchecked without --trusted-root.`,
    )
    .action(async (...all: unknown[]) => {
      const [named, options] = all as [string | undefined, VerifyOptions];
      if (options.file !== undefined) return verifyFile(io, options, options.file, named);
      if (options.bundle !== undefined) throw usageError('--bundle needs --file.', 'It names the module.');
      return online(...all);
    });
}

async function verifyAtServer(session: PluginSession, options: VerifyOptions, named?: string): Promise<void> {
  const { api, io, out } = session;
  const { plugin, number } = optionalVersion(named);
  const pinned = await readPinnedKeys(io, options.key ?? []);
  const place = await findPlugin(session, options, plugin, 'publisher');
  const version = await findVersion(session, place.path, { plugin: place.name, number });
  const { objects } = await api.get(
    `${place.path}/versions/${version.number}/attestations`,
    Type.Object({ objects: Type.Array(attestation) }),
  );
  const { contentAddress } = version;
  await readVerified(session, await api.download(path`/api/v1/c/${contentAddress}`), contentAddress, () => {});
  const keys = pinned.length > 0 ? pinned : await fetchTrustedKeys(api);
  if (pinned.length === 0) {
    out.warn('The signing keys come from the server, which this trusts. To pin them: --key');
  }
  const id = `${place.extensionPoint}/plugin/${place.user}/${place.name}`;
  await report(
    io,
    out,
    options,
    { plugin: id, number: version.number, contentAddress },
    objects,
    keys,
    pinned.length > 0,
  );
}

/** The version of a plugin that is named, or its newest. */
export async function findVersion({ api }: PluginSession, place: string, { plugin, number }: OptionalVersion) {
  if (number === undefined) {
    const { version, contentAddress } = await api.get(place, pluginSchema);
    return { number: version.number, contentAddress };
  }
  const found = (await api.list(`${place}/versions`, versionSchema)).find((each) => each.number === number);
  if (found !== undefined) return found;
  throw new CliError('not_found', `${plugin} has no version ${number}.`, {
    exitCode: exitCodes.notFound,
    hint: 'To see its versions: tenon plugin versions',
  });
}

async function verifyFile(io: Io, options: VerifyOptions, file: string, named: string | undefined): Promise<void> {
  const out = createReporter(io, options.json === true);
  if (options.bundle === undefined) throw usageError('--file needs --bundle.', 'It names the attestations.');
  const keys = await readPinnedKeys(io, options.key ?? []);
  const contentAddress = addressOf(await readInput(io, file, 'the module'));
  const attested: Attested[] = [];
  for (const bundle of options.bundle) attested.push(...(await readBundles(io, bundle)));
  const isPublished = attested.some(({ kind }) => kind === 'publish');
  if (isPublished && keys.length === 0)
    throw usageError('A publish attestation needs --key.', 'It pins the signing key.');
  const { plugin, number } = optionalVersion(named);
  if (plugin !== undefined && !/^[^/]+\/plugin\/[^/]+\/[^/]+$/.test(plugin)) {
    throw usageError(
      `"${printable(plugin)}" is not a plugin's id.`,
      'With --file, name it as ext_…/plugin/usr_…/greet.',
    );
  }
  const version = { plugin: plugin ?? attestedPlugin(attested), number, contentAddress };
  await report(io, out, options, version, attested, keys, true);
}

/** Reads a bundle, or the API's list of attestations. */
async function readBundles(io: Io, file: string): Promise<readonly Attested[]> {
  const text = new TextDecoder().decode(await readInput(io, file, 'the attestation'));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new CliError('malformed_json', `${file} is not JSON.`, { exitCode: exitCodes.refused, cause });
  }
  const { objects } = Object(value) as { readonly objects?: unknown };
  if (!Array.isArray(objects)) return [{ kind: kindOf(value), bundle: value }];
  return objects.map((each) => {
    const { kind, bundle } = Object(each);
    return { kind: kind === 'origin' ? kind : kindOf(bundle), bundle };
  });
}

function kindOf(bundle: unknown): AttestationKind {
  return kindOfPredicate(readStatement(bundle)?.predicateType ?? publishPredicateType);
}

/** The plugin that the attestations name. It is shown, and the signature covers it. */
function attestedPlugin(attested: readonly Attested[]): string {
  const bundle = attested.find(({ kind }) => kind === 'publish')?.bundle;
  return String(readStatement(bundle)?.predicate.plugin ?? '');
}

async function report(
  io: Io,
  out: Reporter,
  { trustedRoot, file }: VerifyOptions,
  version: JudgedVersion,
  attested: readonly Attested[],
  keys: readonly TrustedKey[],
  isPinned: boolean,
): Promise<void> {
  const sigstore = trustedRoot === undefined ? undefined : await openTrustedRoots(io, trustedRoot);
  const judged = await judgeAll(attested, version, { keys, sigstore });
  const attestations = file === undefined ? withPublish(judged) : judged;
  const state = overallState(attestations);
  const { plugin, number = null, contentAddress } = version;
  out.result({ plugin, version: number, contentAddress, state, isPinned, attestations }, () => {
    out.fields([
      ['plugin', plugin === '' ? '-' : number === null ? plugin : `${plugin}@${number}`],
      ['content address', contentAddress],
      ['state', stateCell(out, state)],
    ]);
    out.write('\n');
    out.table(
      ['KIND', 'STATE', 'SIGNER', 'REPOSITORY', 'WORKFLOW', 'DETAIL'],
      attestations.map((each) => rowOf(out, each)),
      '',
    );
  });
  if (state === 'verified') return;
  const isFailed = state === 'failed';
  throw new CliError(
    `provenance_${state}`,
    isFailed ? 'An attestation failed.' : 'No attestation shows where the module comes from.',
    {
      exitCode: isFailed ? exitCodes.provenanceFailed : exitCodes.provenanceAbsent,
    },
  );
}

async function openTrustedRoots(io: Io, files: readonly string[]): Promise<SigstoreVerifier> {
  const texts: string[] = [];
  for (const file of files) texts.push(new TextDecoder().decode(await readInput(io, file, 'the trusted root')));
  // The library takes 100 ms to load.
  const { createSigstoreVerifier } = await import('../provenance/sigstore.ts');
  return createSigstoreVerifier(texts);
}

function rowOf(out: Reporter, { kind, state, signer, detail }: Judgement): readonly Cell[] {
  return [
    kind,
    stateCell(out, state),
    signer?.keyId?.slice(0, 16) ?? signer?.identity ?? '-',
    signer?.repository ?? '-',
    signer?.workflow ?? '-',
    detail ?? '-',
  ];
}

function stateCell({ style }: Reporter, state: Judgement['state']): Cell {
  const styles = { verified: style.good, failed: style.error, absent: style.warning, unchecked: style.dim };
  return { text: state, style: styles[state] };
}

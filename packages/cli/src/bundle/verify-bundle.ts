import type { TrustedKey } from '@tenon/client/provenance';
import { type AttestationKind, testResult as testResultSchema } from '@tenon/protocol';
import { isValid } from '@tenon/protocol/validate';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Judgement, judgeAll, overallState, withPublish } from '../provenance/judge.ts';
import { type CatalogPlugin, type CatalogVersion, parseJson, pluginsOf, readImageManifest } from './catalog.ts';
import { judgeExtensionPoint } from './extension-point-attestation.ts';
import { hexOf } from './layout.ts';
import type { Bundle } from './open-bundle.ts';
import { invalidBundle } from './tar.ts';

/** A version of a bundle, with what this machine found out about it. */
export interface JudgedVersion {
  readonly plugin: CatalogPlugin;
  readonly version: CatalogVersion;
  readonly state: ReturnType<typeof overallState>;
  readonly attestations: readonly Judgement[];
}

/**
 * Whether a plugin may come in.
 *
 * @param patterns ids of plugins, in which an asterisk matches any characters
 */
export function isAllowed(id: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    const source = pattern.split('*').map((text) => text.replace(/[^A-Za-z0-9]/g, '\\$&'));
    return new RegExp(`^${source.join('.*')}$`).test(id);
  });
}

/** Refuses a bundle with a plugin that the allow-list does not have. @throws CliError `not_allowed` */
export function requireAllowed({ catalog }: Bundle, patterns: readonly string[]): void {
  const refused = pluginsOf(catalog).filter(({ plugin }) => !isAllowed(plugin.id, patterns));
  const [first] = refused;
  if (first === undefined) return;
  const others = refused.length === 1 ? '' : ` and ${refused.length - 1} more`;
  throw new CliError(
    'not_allowed',
    `The bundle is refused: no --allow matches ${first.plugin.id}${others}. Nothing was imported.`,
    {
      exitCode: exitCodes.refused,
      hint: 'To see what a bundle contains: tenon bundle show',
    },
  );
}

/** Verifies the attestations of all versions with the pinned keys, on this machine. */
export async function* judgeBundle(bundle: Bundle, keys: readonly TrustedKey[]): AsyncGenerator<JudgedVersion> {
  for (const { plugin } of pluginsOf(bundle.catalog)) {
    for (const version of plugin.versions) yield judgeVersion(bundle, keys, plugin, version);
  }
}

async function judgeVersion(
  { read }: Bundle,
  keys: readonly TrustedKey[],
  plugin: CatalogPlugin,
  version: CatalogVersion,
): Promise<JudgedVersion> {
  const { number, contentAddress, attestations: listed, testResult, image } = version;
  const attested: { readonly kind: Judgement['kind']; readonly bundle: unknown }[] = [];
  for (const { kind, digest } of listed) {
    attested.push({ kind, bundle: parseJson(await read(digest), `the attestation ${digest}`) });
  }
  if (image !== undefined) {
    const { config, layers } = readImageManifest(await read(image.manifest.digest));
    const isOfModule =
      layers.join() === `sha256:${hexOf(contentAddress)}` && config === `sha256:${image.config.digest}`;
    if (!isOfModule) throw invalidBundle(`the image of ${plugin.id}@${number} is not that of its bytes`);
  }
  if (testResult !== null) requireAbout(await read(testResult.digest), plugin, version);
  const trust = { keys, sigstore: undefined };
  const attestations = withPublish(await judgeAll(attested, { plugin: plugin.id, number, contentAddress }, trust));
  for (const { kind, predicateType } of attestations) {
    if (predicateType === null || predicatesOf[kind].test(predicateType)) continue;
    throw invalidBundle(
      `${plugin.id}@${number} has an attestation of the kind ${kind} with the predicate ${predicateType}`,
    );
  }
  return { plugin, version, state: overallState(attestations), attestations };
}

/** The predicates that servers accept of each kind. */
const predicatesOf: Readonly<Record<AttestationKind, RegExp>> = {
  publish: /^urn:tenon:attestation:publish:v1$/,
  provenance: /^https:\/\/slsa\.dev\/provenance\/v(?:1|0\.2)$/,
  origin: /^urn:tenon:attestation:publish:v1$/,
  sbom: /^https:\/\/cyclonedx\.org\/bom(?:\/v?1\.\d{1,2})?$/,
};

/** A test result has no signature. It must be about the version's bytes. */
function requireAbout(bytes: Buffer, { id }: CatalogPlugin, { number, contentAddress }: CatalogVersion): void {
  const statement = parseJson(bytes, `the test result of ${id}@${number}`);
  const isAbout =
    isValid(testResultSchema, statement) &&
    statement.subject.some(({ digest }) => digest.sha256 === hexOf(contentAddress));
  if (!isAbout) throw invalidBundle(`the test result of ${id}@${number} is not about its bytes`);
}

/**
 * Refuses a bundle with an extension point or a version that no pinned key vouches for.
 *
 * @returns when each extension point last changed, by id
 * @throws CliError `provenance_failed`, `provenance_absent`
 */
export async function requireVerified(
  bundle: Bundle,
  keys: readonly TrustedKey[],
): Promise<ReadonlyMap<string, string>> {
  const changes = new Map<string, string>();
  for (const extensionPoint of bundle.catalog.extensionPoints) {
    const judged = await judgeExtensionPoint(bundle, keys, extensionPoint);
    if (judged.state !== 'verified') {
      throw unverified('failed', `${extensionPoint.id}: its attestation failed: ${judged.detail}`);
    }
    changes.set(extensionPoint.id, judged.predicate.changedAt);
  }
  for await (const { plugin, version, state, attestations } of judgeBundle(bundle, keys)) {
    if (state === 'verified') continue;
    const worst = attestations.find((one) => one.state === state);
    const why = `${plugin.id}@${version.number}: ${worst?.kind ?? 'publish'} attestation ${state}: ${worst?.detail ?? ''}`;
    throw unverified(state, why);
  }
  return changes;
}

function unverified(state: 'failed' | 'absent', why: string): CliError {
  return new CliError(`provenance_${state}`, `The bundle is refused: ${why}. Nothing was imported.`, {
    exitCode: state === 'failed' ? exitCodes.provenanceFailed : exitCodes.provenanceAbsent,
    hint: 'Pin the keys of the server that exported it, with --key: its `tenon signing-keys --json`.',
  });
}

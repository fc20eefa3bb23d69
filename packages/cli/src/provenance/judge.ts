import type { ClientError } from '@tenon/client';
import { openBundle, type TrustedKey, verifyAttestation } from '@tenon/client/provenance';
import type { AttestationKind, AttestationSigner } from '@tenon/protocol';
import type { SigstoreVerifier } from './sigstore.ts';
import { readStatement } from './statement.ts';

/** An attestation, with what this machine found out about it. */
export interface Judgement {
  readonly kind: AttestationKind;
  readonly predicateType: string | null;
  /** `unchecked` without a trusted root for its certificate. `absent` stands for a missing publish attestation. */
  readonly state: 'verified' | 'failed' | 'absent' | 'unchecked';
  readonly detail: string | null;
  readonly signer: AttestationSigner | null;
}

/** The version that attestations must be about. */
export interface JudgedVersion {
  /** `ext_…/plugin/usr_…/<name>` */
  readonly plugin: string;
  /** The version's number; `undefined` for any. */
  readonly number: number | undefined;
  readonly contentAddress: string;
}

export interface Trust {
  readonly keys: readonly TrustedKey[];
  readonly sigstore: SigstoreVerifier | undefined;
}

export const publishPredicateType = 'urn:tenon:attestation:publish:v1';

/** The longest payload of an attached document, in base64: 1 MiB and a statement around it. */
const maxDocumentChars = 2 * 1024 * 1024;

const noSigner: AttestationSigner = {
  keyId: null,
  issuer: null,
  identity: null,
  repository: null,
  workflow: null,
  commit: null,
  runUrl: null,
};

/** Verifies attestations on this machine. */
export async function judgeAll(
  attestations: readonly { readonly kind: AttestationKind; readonly bundle: unknown }[],
  version: JudgedVersion,
  trust: Trust,
): Promise<readonly Judgement[]> {
  const judged: Judgement[] = [];
  for (const { kind, bundle } of attestations) {
    if (kind === 'publish') judged.push(await judgePublish(bundle, version, trust));
    else if (kind === 'origin') judged.push(await judgeOrigin(bundle, version, trust));
    else judged.push(await judgeOther(kind, bundle, version, trust));
  }
  return judged;
}

/** Adds an `absent` publish attestation if there is none. */
export function withPublish(judged: readonly Judgement[]): readonly Judgement[] {
  if (judged.some(({ kind }) => kind === 'publish')) return judged;
  const detail = 'the server has none for this version';
  return [...judged, { kind: 'publish', predicateType: publishPredicateType, state: 'absent', detail, signer: null }];
}

async function judgePublish(
  bundle: unknown,
  { plugin, number, contentAddress }: JudgedVersion,
  { keys }: Trust,
): Promise<Judgement> {
  const [extensionPointId = ''] = plugin.split('/');
  const found = await verifyAttestation(bundle, { id: plugin, extensionPointId, contentAddress }, keys);
  const judged = { kind: 'publish', predicateType: publishPredicateType } as const;
  if (found.state !== 'verified') return { ...judged, state: found.state, detail: found.detail, signer: null };
  const { publication, keyId } = found;
  if (number !== undefined && publication.version !== number) {
    const detail = `The attestation is about version ${publication.version}`;
    return { ...judged, state: 'failed', detail, signer: null };
  }
  const claim = (name: string) => {
    const value = publication.claims?.[name];
    return typeof value === 'string' ? value : null;
  };
  const signer = {
    ...noSigner,
    keyId,
    issuer: claim('issuer'),
    identity: claim('subject'),
    repository: claim('repository'),
    workflow: claim('workflowRef'),
    commit: claim('sha'),
    runUrl: claim('runUrl'),
  };
  const how = publication.means.replaceAll('_', ' ');
  const detail = `published by ${publication.publisher} at ${publication.publishedAt} (${how})`;
  return { ...judged, state: 'verified', detail, signer };
}

/** Judges the publish attestation of the server that an imported version comes from. Its key need not be pinned to verify this one. */
async function judgeOrigin(bundle: unknown, { contentAddress }: JudgedVersion, { keys }: Trust): Promise<Judgement> {
  const statement = readStatement(bundle);
  const judged = { kind: 'origin', predicateType: statement?.predicateType ?? null, signer: null } as const;
  const isAbout = statement?.digests.includes(Buffer.from(contentAddress, 'base64url').toString('hex'));
  if (statement?.predicateType !== publishPredicateType || !isAbout) {
    return { ...judged, state: 'failed', detail: 'It is no publish attestation of these bytes' };
  }
  try {
    const { keyId } = await openBundle(bundle, keys);
    const { server, plugin, version } = statement.predicate;
    const detail = `published by ${server} as ${plugin}@${version}`;
    return { ...judged, state: 'verified', detail, signer: { ...noSigner, keyId } };
  } catch (error) {
    const { message, reason } = error as ClientError;
    return { ...judged, state: reason === 'unknown_key' ? 'unchecked' : 'failed', detail: message };
  }
}

async function judgeOther(
  kind: Exclude<AttestationKind, 'publish' | 'origin'>,
  bundle: unknown,
  { contentAddress }: JudgedVersion,
  { keys, sigstore }: Trust,
): Promise<Judgement> {
  const statement = readStatement(bundle);
  const judged = { kind, predicateType: statement?.predicateType ?? null };
  const failed = (detail: string): Judgement => ({ ...judged, state: 'failed', detail, signer: null });
  if (statement === undefined) return failed('The bundle contains no in-toto statement');
  if (kindOfPredicate(statement.predicateType) !== kind) {
    return failed(`The attestation is no ${kind === 'sbom' ? 'SBOM' : 'provenance'}, but ${statement.predicateType}`);
  }
  if (!statement.digests.includes(Buffer.from(contentAddress, 'base64url').toString('hex'))) {
    return failed('The attestation is about other bytes');
  }
  if (isSignedWithKey(bundle)) {
    if (kind !== 'sbom') return failed('The attestation is signed with a key, and not with a certificate');
    try {
      const { keyId } = await openBundle(bundle, keys, maxDocumentChars);
      const detail = 'signed by the server, and not by the publisher';
      return { ...judged, state: 'verified', detail, signer: { ...noSigner, keyId } };
    } catch (error) {
      return failed((error as Error).message);
    }
  }
  if (sigstore === undefined) {
    return { ...judged, state: 'unchecked', detail: 'its certificate needs --trusted-root', signer: null };
  }
  try {
    return { ...judged, state: 'verified', detail: null, signer: sigstore(bundle) };
  } catch (error) {
    return failed((error as Error).message);
  }
}

export function kindOfPredicate(predicateType: string): AttestationKind {
  if (predicateType === publishPredicateType) return 'publish';
  return /^https:\/\/(?:cyclonedx\.org|spdx\.dev)\//.test(predicateType) ? 'sbom' : 'provenance';
}

/** Whether a public key verifies a bundle, and not a certificate: the server signs plain documents so. */
function isSignedWithKey(bundle: unknown): boolean {
  return Object(Object(bundle).verificationMaterial).publicKey !== undefined;
}

/** The worst state. Unchecked attestations don't count. */
export function overallState(judged: readonly Judgement[]): 'verified' | 'failed' | 'absent' {
  const states = judged.map(({ state }) => state);
  if (states.includes('failed')) return 'failed';
  return states.includes('absent') || !states.includes('verified') ? 'absent' : 'verified';
}

import { hash } from 'node:crypto';
import { type AttestationSigner, newId, type ProvenanceState, type UserId } from '@tenon/protocol';
import { chargeStoredBytes, takeQuota } from '../auth/quotas.ts';
import type { AttestationRecord } from '../db/attestation-records.ts';
import type { VersionRecord } from '../db/records.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../http/domain-errors.ts';
import type { AttachedDocument, CheckedDocument } from './check-document.ts';
import { signStatement } from './dsse.ts';
import { subjectOf } from './publish-attestation.ts';
import { currentSigningKey } from './signing-keys.ts';
import { noSigner, statementType } from './statement.ts';

/** A checked document with its text. */
export interface VerifiedAttachment extends CheckedDocument {
  readonly text: string;
  /** In bytes. */
  readonly size: number;
  /** The SHA-256 of the document, in hexadecimal. */
  readonly digest: string;
}

type JobOptions = Parameters<Deps['checker']['checkDocument']>[2];

/** The maximum number of attached documents of a version. */
const maxAttachments = 10;

/** The maximum size of a version's attached documents together, in bytes. */
export const maxAttachmentBytesOfVersion = 4 * 1024 * 1024;

/**
 * Checks a document in a worker process.
 *
 * @throws DomainError `invalid_field`
 */
export async function verifyAttachment(
  { checker }: Pick<Deps, 'checker'>,
  document: AttachedDocument,
  contentAddress: string,
  jobOptions: JobOptions,
): Promise<VerifiedAttachment> {
  const checked = await checker.checkDocument(document, contentAddress, jobOptions);
  const { bytes } = document;
  const text = new TextDecoder().decode(bytes);
  return { ...checked, text, size: bytes.length, digest: hash('sha256', bytes, 'hex') };
}

/**
 * Attaches documents to a version, within the quotas. A document that is attached already gets the new result of its verification.
 *
 * @returns the stored attestations, in the order of the documents
 * @throws DomainError `limit_exceeded`, `quota_exceeded`, `rate_limited`
 */
export async function addAttestations(
  deps: Deps,
  tx: Transaction,
  { appId, userId, nowMs }: { readonly appId: string; readonly userId: UserId; readonly nowMs: number },
  version: VersionRecord,
  attachments: readonly VerifiedAttachment[],
): Promise<AttestationRecord[]> {
  const present = await tx.attestations(version.id);
  const stored: AttestationRecord[] = [];
  let addedBytes = 0;
  for (const attachment of attachments) {
    const { verification, size, digest } = attachment;
    const known = [...present, ...stored].find((one) => one.digest === digest);
    if (known !== undefined) {
      const changed = attachment.isPlain ? known : { ...known, ...verification };
      await tx.updateAttestation(changed);
      stored.push(changed);
      continue;
    }
    requireSpace([...present, ...stored], size);
    const { bundle, signer } = await signedForm(deps, tx, version, attachment);
    const attestation = { ...newAttestation(attachment, version, nowMs, userId), digest, signer };
    await tx.insertAttestation({ ...attestation, bundle });
    stored.push(attestation);
    addedBytes += size;
  }
  if (addedBytes > 0) await chargeQuotas(deps, tx, appId, userId, addedBytes);
  const ids = new Set(stored.map(({ id }) => id));
  const all = [...present.filter(({ id }) => !ids.has(id)), ...stored];
  await tx.setProvenance(version, stateOfProvenance(all), addedBytes);
  return stored;
}

function newAttestation(
  { kind, predicateType, size, verification }: VerifiedAttachment,
  { id: versionId }: VersionRecord,
  createdAtMs: number,
  userId: UserId,
) {
  return { id: newId('attestation'), versionId, kind, predicateType, ...verification, size, userId, createdAtMs };
}

/** Returns a document as a bundle. This server signs one without a signature. */
async function signedForm(
  deps: Deps,
  tx: Transaction,
  version: VersionRecord,
  attachment: VerifiedAttachment,
): Promise<{ readonly bundle: string; readonly signer: AttestationSigner | null }> {
  const { isPlain, predicateType, text, verification } = attachment;
  if (!isPlain) return { bundle: text, signer: verification.signer };
  const key = await currentSigningKey(deps, tx);
  const subject = subjectOf(version);
  const bundle = signStatement(key, { _type: statementType, subject, predicateType, predicate: JSON.parse(text) });
  return { bundle, signer: { ...noSigner, keyId: key.id } };
}

function requireSpace(present: readonly AttestationRecord[], size: number): void {
  const attached = present.filter(({ kind }) => kind !== 'publish');
  const bytes = attached.reduce((sum, one) => sum + one.size, size);
  if (attached.length < maxAttachments && bytes <= maxAttachmentBytesOfVersion) return;
  throw new DomainError(
    'limit_exceeded',
    `A version can have ${maxAttachments} attached attestations with ${maxAttachmentBytesOfVersion.toLocaleString('en')} bytes.`,
  );
}

async function chargeQuotas(deps: Deps, tx: Transaction, appId: string, userId: UserId, bytes: number): Promise<void> {
  await takeQuota(deps, tx, 'account-bytes', userId, await tx.sumPublishedBytes(userId), bytes);
  await takeQuota(deps, tx, 'app-bytes', appId as never, (await tx.countPlugins(appId as never)).bytes, bytes);
  await chargeStoredBytes(deps, tx, userId, bytes);
}

/** Returns the best state of provenance: attached, or from trusted publishing. */
export function stateOfProvenance(
  attestations: readonly Pick<AttestationRecord, 'kind' | 'state' | 'signer'>[],
): ProvenanceState {
  const isFromCi = ({ kind, signer }: Pick<AttestationRecord, 'kind' | 'signer'>) =>
    kind === 'publish' && signer !== null && signer.issuer !== null;
  const states = attestations.filter((one) => one.kind === 'provenance' || isFromCi(one)).map(({ state }) => state);
  if (states.includes('verified')) return 'verified';
  return states.length > 0 ? 'failed' : 'absent';
}

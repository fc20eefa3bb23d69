import type { CiClaims, ProvenancePolicy, ProvenanceState } from '@tenon/protocol';
import type { AttestationRecord } from '../db/attestation-records.ts';
import { DomainError } from '../http/domain-errors.ts';
import type { VerifiedAttachment } from './attach.ts';
import { sourceOfClaims, sourceOfSigner } from './ci-claims.ts';
import { acceptsSource, describeSource } from './provenance-policy.ts';
import type { Verification } from './sigstore.ts';

/** What is known of where a module comes from. */
export interface ProvenanceEvidence {
  readonly claims: CiClaims | null;
  /** Of the kind `provenance` only. */
  readonly provenance: readonly Verification[];
}

/**
 * @param claims those of the token, from trusted publishing
 * @param stored the attestations that the version has already
 */
export function evidenceOf(
  attachments: readonly VerifiedAttachment[],
  claims: CiClaims | null,
  stored: readonly AttestationRecord[],
): ProvenanceEvidence {
  const attached = attachments.map(({ kind, verification }) => ({ kind, ...verification }));
  return { claims, provenance: [...attached, ...stored].filter(({ kind }) => kind === 'provenance') };
}

export function stateOfEvidence({ claims, provenance }: ProvenanceEvidence): ProvenanceState {
  if (claims !== null || provenance.some(({ state }) => state === 'verified')) return 'verified';
  return provenance.length > 0 ? 'failed' : 'absent';
}

/** Returns why a policy does not accept the evidence; `undefined` if it does. */
function provenanceFault(policy: ProvenancePolicy, { claims, provenance }: ProvenanceEvidence): string | undefined {
  const signers = provenance.flatMap(({ signer }) => signer ?? []);
  const sources = [...(claims === null ? [] : [sourceOfClaims(claims)]), ...signers.map(sourceOfSigner)];
  if (sources.some((source) => acceptsSource(policy, source))) return undefined;
  const [source] = sources;
  if (source !== undefined) {
    const { issuer, repositories, workflows } = source;
    const found = describeSource({ issuer, ...firstOf('repository', repositories), ...firstOf('workflow', workflows) });
    return `the provenance has another source: ${found}`;
  }
  const failure = provenance.find(({ state }) => state === 'failed');
  if (failure !== undefined) return `the attached provenance is not valid: ${failure.detail}`;
  return 'no provenance is attached';
}

function firstOf(name: 'repository' | 'workflow', [first]: readonly string[]) {
  return first === undefined ? {} : { [name]: first };
}

/** What the audit trail says about the provenance of a publish. */
export function auditedProvenance(policy: ProvenancePolicy, evidence: ProvenanceEvidence) {
  const provenance = stateOfEvidence(evidence);
  const fault = policy.mode === 'record' ? provenanceFault(policy, evidence) : undefined;
  return { provenance, ...(fault !== undefined && { provenanceFault: fault }) };
}

/** @throws DomainError `provenance_required` if a policy requires provenance and does not accept the evidence */
export function requireProvenance(policy: ProvenancePolicy, evidence: ProvenanceEvidence): void {
  if (policy.mode !== 'require') return;
  const fault = provenanceFault(policy, evidence);
  if (fault === undefined) return;
  const accepted = policy.sources.map(describeSource).join('; ');
  throw new DomainError(
    'provenance_required',
    `The extension point requires provenance, and ${fault}. It accepts: ${accepted}.`,
    { errors: [{ pointer: '/provenance', detail: fault }] },
  );
}

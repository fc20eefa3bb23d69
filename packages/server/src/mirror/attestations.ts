import { hash } from 'node:crypto';
import type { Attestation, AttestationId, VersionId } from '@tenon/protocol';
import type { AttestationRecord, AttestationWithBundle } from '../db/attestation-records.ts';

/** An attestation of the source, as a mirror stores it. It does not count for quotas, so it has no size. */
export function toStoredAttestation(versionId: VersionId, attestation: Attestation): AttestationWithBundle {
  const { id, kind, predicateType, state, detail, signer, createdAt } = attestation;
  const bundle = JSON.stringify(attestation.bundle);
  return {
    id: id as AttestationId,
    versionId,
    ...{ kind, predicateType, state, detail, signer },
    size: 0,
    digest: hash('sha256', bundle, 'hex'),
    userId: null,
    createdAtMs: Date.parse(createdAt),
    bundle,
  };
}

/** Whether the attestations of the source are those that a mirror has stored. */
export function isSameAttestations(found: readonly AttestationRecord[], stored: readonly AttestationRecord[]): boolean {
  const keyOf = ({ id, digest, state, detail }: AttestationRecord) => JSON.stringify([id, digest, state, detail]);
  const known = new Set(stored.map(keyOf));
  return found.length === known.size && found.every((each) => known.has(keyOf(each)));
}

import type { Attestation, AttestationKind } from '@tenon/protocol';
import type { AttestationWithBundle, SigningKeyRecord } from '../db/attestation-records.ts';
import type { StoreFault } from '../db/blob-records.ts';
import { readAllPages } from '../db/paging.ts';
import type { VersionRecord } from '../db/records.ts';
import type { Deps } from '../deps.ts';
import { parseBundle } from './dsse.ts';
import { faultOfOwn } from './publish-attestation.ts';

/**
 * Reads the attestations of a version with their bundles. The server's own signatures are verified with each read, because a key may have
 * been revoked.
 *
 * @param kind only this kind
 */
export async function readAttestations(
  { store }: Pick<Deps, 'store'>,
  version: VersionRecord,
  kind?: AttestationKind,
): Promise<AttestationWithBundle[]> {
  const attestations = await store.read.attestationsWithBundles(version.id, kind);
  const publicKeyOf = keyFinder(attestations.length === 0 ? [] : await store.read.signingKeys());
  return attestations.map((one) => {
    if (one.signer === null || one.signer.keyId === null || one.kind === 'origin') return one;
    const fault = faultOfOwn(one, version.contentAddress, publicKeyOf);
    return fault === null ? one : { ...one, state: 'failed', detail: fault };
  });
}

function keyFinder(keys: readonly SigningKeyRecord[]): (id: string) => string | undefined {
  const pems = new Map(keys.flatMap((key) => (key.revokedAtMs === null ? [[key.id, key.publicKeyPem]] : [])));
  return (id) => pems.get(id);
}

export function toAttestation(attestation: AttestationWithBundle, version: VersionRecord): Attestation {
  const { id, kind, predicateType, state, detail, signer, createdAtMs, bundle } = attestation;
  return {
    id,
    kind,
    predicateType,
    version: version.number,
    state,
    detail,
    signer,
    createdAt: new Date(createdAtMs).toISOString(),
    bundle: parseBundle(bundle) ?? {},
  };
}

/** How many attestations one query reads. */
const batchSize = 200;

/** Verifies the server's own attestations of all versions with the stored keys. @returns what is wrong */
export async function verifyAttestations(
  { store }: Pick<Deps, 'store'>,
  signal?: AbortSignal,
): Promise<{ readonly attestations: number; readonly faults: readonly StoreFault[] }> {
  const faults: StoreFault[] = [];
  let attestations = 0;
  const keys = new Map((await store.read.signingKeys()).map(({ id, publicKeyPem }) => [id, publicKeyPem]));
  const idOf = ({ id }: { readonly id: string }) => id;
  for await (const page of readAllPages(batchSize, idOf, (range) => store.read.publishAttestations(range))) {
    for (const one of page) {
      signal?.throwIfAborted();
      attestations++;
      const fault = faultOfOwn({ ...one, kind: 'publish' }, one.contentAddress, (id) => keys.get(id));
      if (fault !== null) faults.push({ subject: `attestation ${one.id}`, detail: fault });
    }
  }
  return { attestations, faults };
}

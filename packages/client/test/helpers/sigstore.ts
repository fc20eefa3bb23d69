import { bundleFromJSON } from '@sigstore/bundle';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import type { SigningKey } from '@tenon/client/provenance';

const root = { mediaType: '', tlogs: [], certificateAuthorities: [], ctlogs: [], timestampAuthorities: [] };

/** Whether Sigstore's library accepts a bundle. It checks neither the statement nor what it is about. */
export function sigstoreAccepts(bundle: unknown, keys: readonly Pick<SigningKey, 'keyId' | 'publicKey'>[]): boolean {
  const trusted = keys.map(({ keyId = '', publicKey }) => {
    const rawBytes = Buffer.from(publicKey.replace(/-----[^-]+-----|\s/g, ''), 'base64');
    return [keyId, { rawBytes, keyDetails: 7 }] as const;
  });
  try {
    const material = toTrustMaterial(root, Object.fromEntries(trusted));
    const verifier = new Verifier(material, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 });
    verifier.verify(toSignedEntity(bundleFromJSON(bundle)));
    return true;
  } catch {
    return false;
  }
}

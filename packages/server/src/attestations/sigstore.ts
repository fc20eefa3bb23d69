import { createRequire } from 'node:module';
import type { AttestationSigner } from '@tenon/protocol';
import type { SignedAttachment } from './attachment.ts';
import { signerOfIdentity } from './certificate-claims.ts';
import { hasSubject, noSigner } from './statement.ts';
import { toTrustedRoot } from './trusted-root.ts';

/** The result of verifying an attached attestation. */
export interface Verification {
  readonly state: 'verified' | 'failed';
  readonly detail: string | null;
  /** Verified facts only: a failed attestation has none. */
  readonly signer: AttestationSigner | null;
}

/** A worker's tasks are synchronous, and only those that verify need these libraries. */
const require = createRequire(import.meta.url);

const maxDetailLength = 500;

/**
 * Verifies the signature of an attached bundle with the configured trusted roots, and that it is about a content. It makes no network
 * requests. It does not throw: whatever is wrong with a well-formed bundle makes it fail.
 *
 * A root without transparency logs, such as GitHub's for private repositories, requires no log entry. Every root requires a trusted time
 * at which the certificate was valid.
 */
export function verifyBundle(
  trustedRoots: readonly unknown[],
  { bundle: serialized, statement }: SignedAttachment,
  contentAddress: string,
): Verification {
  if (!hasSubject(statement, contentAddress)) return failed('it is about another content: no subject has its digest');
  if (trustedRoots.length === 0) return failed('no trusted root is configured on this server');
  const { bundleFromJSON, isBundleWithPublicKey } = require('@sigstore/bundle') as typeof import('@sigstore/bundle');
  const { toSignedEntity, toTrustMaterial, Verifier } =
    require('@sigstore/verify') as typeof import('@sigstore/verify');
  let fault = '';
  for (const json of trustedRoots) {
    try {
      const bundle = bundleFromJSON(serialized);
      if (isBundleWithPublicKey(bundle)) return failed('it is signed with a key, and not with a certificate');
      const root = toTrustedRoot(json);
      const verifier = new Verifier(toTrustMaterial(root), {
        tlogThreshold: root.tlogs.length > 0 ? 1 : 0,
        ctlogThreshold: root.ctlogs.length > 0 ? 1 : 0,
        timestampThreshold: 1,
      });
      const { identity } = verifier.verify(toSignedEntity(bundle));
      return { state: 'verified', detail: null, signer: { ...noSigner, ...signerOfIdentity(identity) } };
    } catch (error) {
      fault = error instanceof Error ? error.message : String(error);
    }
  }
  return failed(fault);
}

function failed(detail: string): Verification {
  return { state: 'failed', detail: detail.replaceAll(/\p{C}/gu, ' ').slice(0, maxDetailLength), signer: null };
}

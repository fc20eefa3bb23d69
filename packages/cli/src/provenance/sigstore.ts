import { bundleFromJSON } from '@sigstore/bundle';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { type Signer, toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import type { AttestationSigner } from '@tenon/protocol';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';

/** Extensions of a Fulcio certificate: https://github.com/sigstore/fulcio/blob/main/docs/oid-info.md */
const extensions = {
  commit: '1.3.6.1.4.1.57264.1.13',
  repository: '1.3.6.1.4.1.57264.1.12',
  workflow: '1.3.6.1.4.1.57264.1.18',
  runUrl: '1.3.6.1.4.1.57264.1.21',
} as const;

/** Verifies bundles that were signed with certificates. */
export type SigstoreVerifier = (bundle: unknown) => AttestationSigner;

/**
 * Verifies with the first of several trusted roots that accepts a bundle. Like the server's check, it requires a log entry if the root
 * has logs, and a trusted time.
 *
 * @throws CliError `invalid_trusted_root`
 */
export function createSigstoreVerifier(trustedRoots: readonly string[]): SigstoreVerifier {
  const verifiers = trustedRoots.map(createVerifier);
  return (bundle) => {
    let fault: unknown;
    for (const verifier of verifiers) {
      try {
        return describeSigner(verifier.verify(toSignedEntity(bundleFromJSON(bundle))));
      } catch (error) {
        fault = error;
      }
    }
    throw fault;
  };
}

function createVerifier(text: string): Verifier {
  try {
    const root = TrustedRoot.fromJSON(JSON.parse(text));
    return new Verifier(toTrustMaterial(root), {
      tlogThreshold: root.tlogs.length > 0 ? 1 : 0,
      ctlogThreshold: root.ctlogs.length > 0 ? 1 : 0,
      timestampThreshold: 1,
    });
  } catch (cause) {
    throw new CliError('invalid_trusted_root', `The trusted root is invalid: ${(cause as Error).message}`, {
      exitCode: exitCodes.refused,
      hint: 'It is the JSON file trusted_root.json of a Sigstore instance.',
      cause,
    });
  }
}

function describeSigner({ identity }: Signer): AttestationSigner {
  const values = new Map(identity?.oids?.map(({ oid, value }) => [oid?.id.join('.'), value]));
  const text = (id: string) => {
    const value = values.get(id);
    return value === undefined ? null : readUtf8String(value);
  };
  return {
    keyId: null,
    issuer: identity?.extensions?.issuer ?? null,
    identity: identity?.subjectAlternativeName ?? null,
    repository: text(extensions.repository),
    workflow: text(extensions.workflow),
    commit: text(extensions.commit),
    runUrl: text(extensions.runUrl),
  };
}

/** The text of a short DER UTF8String: a tag, a length of one or two bytes, and the text. */
function readUtf8String(value: Uint8Array): string {
  const header = value[0] !== 0x0c ? 0 : (value[1] ?? 0) < 0x80 ? 2 : 2 + ((value[1] ?? 0) & 0x7f);
  return new TextDecoder().decode(value.subarray(header));
}

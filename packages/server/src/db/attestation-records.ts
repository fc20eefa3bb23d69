import type {
  AttestationId,
  AttestationKind,
  AttestationSigner,
  AttestationState,
  UserId,
  VersionId,
} from '@tenon/protocol';

/** A key with which the server signs attestations. */
export interface SigningKeyRecord {
  /** The SHA-256 of the public key's SPKI in DER, in hexadecimal. */
  readonly id: string;
  /** `file` for a key whose private part is in a file, and not in the store; `source` for one of a mirror's source. */
  readonly origin: 'store' | 'file' | 'source';
  /** SPKI in PEM. */
  readonly publicKeyPem: string;
  readonly validFromMs: number;
  /** When the server stops signing with it; `null` without a successor. */
  readonly validUntilMs: number | null;
  /** Attestations with a revoked key fail. */
  readonly revokedAtMs: number | null;
}

/** A key as it is stored. */
export interface StoredSigningKey extends SigningKeyRecord {
  /** PKCS #8 in PEM; `null` for a key in a file, and for a revoked one. Never shown. */
  readonly privateKeyPem: string | null;
}

/** An attestation of a version, without its bundle. */
export interface AttestationRecord {
  readonly id: AttestationId;
  readonly versionId: VersionId;
  readonly kind: AttestationKind;
  readonly predicateType: string;
  readonly state: AttestationState;
  /** Why it failed, or what a reader should know. */
  readonly detail: string | null;
  readonly signer: AttestationSigner | null;
  /** The size of the attached document, in bytes; 0 for the server's own attestations. */
  readonly size: number;
  /** The SHA-256 of the attached document, in hexadecimal. It is unique per version. */
  readonly digest: string;
  /** The user who attached it; `null` for the server. */
  readonly userId: UserId | null;
  readonly createdAtMs: number;
}

export interface AttestationWithBundle extends AttestationRecord {
  /** A Sigstore bundle, as JSON text. */
  readonly bundle: string;
}

import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { AttestedPlugin, SigningKey } from '@tenon/client/provenance';

/** A key pair of a server. */
export interface Signer {
  readonly keyId: string;
  /** In PEM. */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

export function createSigner(): Signer {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return {
    keyId: createHash('sha256').update(spki).digest('hex'),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }) as string,
    privateKey,
  };
}

/** The key as the server publishes it. */
export function published({ keyId, publicKey }: Signer, validity: Partial<SigningKey> = {}): SigningKey {
  return {
    keyId,
    algorithm: 'ed25519',
    publicKey,
    validFrom: '2026-01-01T00:00:00.000Z',
    validUntil: null,
    ...validity,
  };
}

/** What is written differently than the server does. */
export interface Deviation {
  readonly statement?: Readonly<Record<string, unknown>>;
  readonly subject?: Readonly<Record<string, unknown>>;
  readonly predicate?: Readonly<Record<string, unknown>>;
  readonly payloadType?: string;
  /** In place of the statement's JSON. */
  readonly payload?: Uint8Array;
}

/** A publish attestation in a Sigstore bundle, as the server signs it. */
export function attest(
  signer: Signer,
  { id, extensionPointId, contentAddress }: AttestedPlugin,
  { statement, subject, predicate, payloadType = 'application/vnd.in-toto+json', payload }: Deviation = {},
) {
  const [, , publisher, name] = id.split('/');
  const sha256 = Buffer.from(contentAddress, 'base64url').toString('hex');
  const text = JSON.stringify({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: `${id}@3`, digest: { sha256 }, ...subject }],
    predicateType: 'urn:tenon:attestation:publish:v1',
    predicate: {
      server: 'https://plugins.example',
      appId: 'app_1',
      extensionPointId,
      plugin: id,
      publisher,
      name,
      version: 3,
      versionId: 'ver_1',
      semver: null,
      size: 3,
      publishedAt: '2026-05-01T00:00:00.000Z',
      means: 'token',
      ...predicate,
    },
    ...statement,
  });
  const bytes = Buffer.from(payload ?? text);
  const signed = Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${bytes.length} `), bytes]);
  return {
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: { publicKey: { hint: signer.keyId } },
    dsseEnvelope: {
      payloadType,
      payload: bytes.toString('base64'),
      signatures: [{ sig: sign(null, signed, signer.privateKey).toString('base64') }],
    },
  };
}

/** The response of the server to a request for attestations. */
export function attestationsResponse(...bundles: readonly unknown[]): Response {
  const objects = bundles.map((bundle, index) => ({
    id: `att_${index}`,
    kind: 'publish',
    predicateType: 'urn:tenon:attestation:publish:v1',
    version: 3,
    state: 'verified',
    detail: null,
    signer: null,
    createdAt: '2026-05-01T00:00:00.000Z',
    bundle,
  }));
  return new Response(JSON.stringify({ objects }), { headers: { 'content-type': 'application/json' } });
}

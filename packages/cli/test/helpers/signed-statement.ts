import { generateKeyPairSync, hash, type KeyObject, sign } from 'node:crypto';

/** A key pair of a server. */
export interface Signer {
  readonly keyId: string;
  /** In PEM. */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

export function createSigner(): Signer {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return {
    keyId: hash('sha256', publicKey.export({ type: 'spki', format: 'der' }), 'hex'),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }) as string,
    privateKey,
  };
}

/** A statement in a Sigstore bundle, as the server signs it. */
export function signed({ keyId, privateKey }: Signer, statement: object) {
  const payloadType = 'application/vnd.in-toto+json';
  const bytes = Buffer.from(JSON.stringify(statement));
  const text = Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${bytes.length} `), bytes]);
  return {
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: { publicKey: { hint: keyId } },
    dsseEnvelope: {
      payloadType,
      payload: bytes.toString('base64'),
      signatures: [{ sig: sign(null, text, privateKey).toString('base64') }],
    },
  };
}

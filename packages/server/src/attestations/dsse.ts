import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import type { Statement } from './statement.ts';

/*
 * Envelopes of DSSE (https://github.com/secure-systems-lab/dsse/blob/v1.0.2/protocol.md) with Ed25519, in Sigstore bundles
 * (https://docs.sigstore.dev/about/bundle/).
 */

export const inTotoPayloadType = 'application/vnd.in-toto+json';

const bundleMediaType = 'application/vnd.dev.sigstore.bundle.v0.3+json';

/** A key pair of the server. */
export interface SigningKey {
  readonly id: string;
  readonly privateKey: KeyObject;
}

/** Returns the id of a public key: the SHA-256 of its SPKI in DER, in hexadecimal. */
export function keyIdOf(publicKey: KeyObject): string {
  return hash('sha256', publicKey.export({ type: 'spki', format: 'der' }), 'hex');
}

export function signingKeyOf(privateKeyPem: string): SigningKey {
  const privateKey = createPrivateKey(privateKeyPem);
  return { id: keyIdOf(createPublicKey(privateKey)), privateKey };
}

/** The bytes that a signature covers. */
function preAuthEncoding(payloadType: string, payload: Uint8Array): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

/** Signs an in-toto statement. @returns a Sigstore bundle as JSON text */
export function signStatement(key: SigningKey, statement: object): string {
  const payload = Buffer.from(JSON.stringify(statement));
  const signature = sign(null, preAuthEncoding(inTotoPayloadType, payload), key.privateKey);
  return JSON.stringify({
    mediaType: bundleMediaType,
    verificationMaterial: { publicKey: { hint: key.id } },
    dsseEnvelope: {
      payload: payload.toString('base64'),
      payloadType: inTotoPayloadType,
      signatures: [{ sig: signature.toString('base64') }],
    },
  });
}

/** A bundle that {@link signStatement} returned. */
interface OwnBundle {
  readonly verificationMaterial?: { readonly publicKey?: { readonly hint?: string } };
  readonly dsseEnvelope?: {
    readonly payload?: string;
    readonly payloadType?: string;
    readonly signatures?: readonly { readonly sig?: string }[];
  };
}

/**
 * Verifies a bundle of this server.
 *
 * @param publicKeyOf returns the PEM of a key by its id; `undefined` for unknown and revoked keys
 * @returns the statement, or why the bundle fails
 */
export function openOwnBundle(
  text: string,
  publicKeyOf: (id: string) => string | undefined,
): { readonly statement: Statement } | { readonly fault: string } {
  const bundle: OwnBundle | undefined = parseBundle(text);
  if (bundle === undefined) return { fault: 'the bundle is damaged' };
  const hint = bundle.verificationMaterial?.publicKey?.hint ?? '';
  const pem = publicKeyOf(hint);
  if (pem === undefined) return { fault: `the key ${hint} is unknown or revoked` };
  const { payload = '', payloadType = '', signatures = [] } = bundle.dsseEnvelope ?? {};
  const [signature] = signatures;
  const bytes = Buffer.from(payload, 'base64');
  const isValid =
    payloadType === inTotoPayloadType &&
    signatures.length === 1 &&
    verify(
      null,
      preAuthEncoding(payloadType, bytes),
      createPublicKey(pem),
      Buffer.from(signature?.sig ?? '', 'base64'),
    );
  return isValid ? { statement: JSON.parse(bytes.toString()) as Statement } : { fault: 'the signature is not valid' };
}

/** @returns `undefined` if the text is damaged */
export function parseBundle(text: string): object | undefined {
  try {
    const bundle: unknown = JSON.parse(text);
    return typeof bundle === 'object' && bundle !== null ? bundle : undefined;
  } catch {
    return undefined;
  }
}

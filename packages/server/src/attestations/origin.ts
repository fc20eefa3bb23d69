import { createPublicKey, hash, type KeyObject } from 'node:crypto';
import { DomainError } from '../http/domain-errors.ts';
import type { VerifiedAttachment } from './attach.ts';
import { type OriginDocument, readOriginDocument } from './attachment.ts';
import { keyIdOf, openOwnBundle } from './dsse.ts';
import { type Origin, publishPredicateType } from './publish-attestation.ts';
import { hasSubject, noSigner } from './statement.ts';

/** A verified origin, with the attestation to attach. */
export interface VerifiedOrigin {
  readonly origin: Origin;
  readonly attachment: VerifiedAttachment;
}

const maxTextLength = 1000;

/**
 * Verifies another server's publish attestation with the key that came with it. Anyone can make such a key, so that only the team may attach
 * one.
 *
 * @throws DomainError `invalid_field`
 */
export function readOrigin(bytes: Uint8Array, contentAddress: string): VerifiedOrigin {
  const document = readOriginDocument(bytes, '/origin');
  const origin = verify(document, contentAddress);
  const { keyId, server, plugin, version, publishedAt } = origin;
  const detail = `Imported. The server ${server} published it as ${plugin}@${version} at ${publishedAt}.`;
  const { text } = document;
  const attachment: VerifiedAttachment = {
    kind: 'origin',
    predicateType: publishPredicateType,
    isPlain: false,
    verification: {
      state: 'verified',
      detail: detail.replaceAll(/\p{C}/gu, ' '),
      signer: { ...noSigner, keyId },
    },
    text,
    size: Buffer.byteLength(text),
    digest: hash('sha256', text, 'hex'),
  };
  return { origin, attachment };
}

function verify({ text, publicKey }: OriginDocument, contentAddress: string): Origin {
  const keyId = keyIdOf(readPublicKey(publicKey));
  const opened = openOwnBundle(text, (id) => (id === keyId ? publicKey : undefined));
  if ('fault' in opened) throw invalidOrigin(opened.fault);
  const { predicateType, predicate } = opened.statement;
  if (predicateType !== publishPredicateType) throw invalidOrigin(`it has the predicate ${String(predicateType)}`);
  if (!hasSubject(opened.statement, contentAddress)) throw invalidOrigin('it is about another content');
  const { server, plugin, version, publishedAt } = Object(predicate) as Readonly<Record<string, unknown>>;
  if (isText(server) && isText(plugin) && isText(publishedAt) && Number.isSafeInteger(version)) {
    return { keyId, server, plugin, version: version as number, publishedAt };
  }
  throw invalidOrigin('it does not say the server, the plugin, the version, and the time');
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxTextLength;
}

function readPublicKey(pem: string): KeyObject {
  try {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {}
  throw invalidOrigin('its public key is not an Ed25519 key in PEM');
}

function invalidOrigin(why: string): DomainError {
  return new DomainError('invalid_field', `The attestation of the origin is not valid: ${why}.`, {
    errors: [{ pointer: '/origin', detail: why }],
  });
}

import type { Signer } from '@sigstore/verify';
import type { AttestationSigner } from '@tenon/protocol';

/** Extensions of Fulcio's certificates: https://github.com/sigstore/fulcio/blob/main/docs/oid-info.md */
const arc = '1.3.6.1.4.1.57264.1.';
const extension = {
  issuer: `${arc}8`,
  sourceRepository: `${arc}12`,
  sourceDigest: `${arc}13`,
  buildConfig: `${arc}18`,
  runInvocation: `${arc}21`,
} as const;

const maxClaimLength = 1000;

/**
 * Returns what a verified certificate says about its owner. The statement's own claims are not used: the signer chooses them.
 *
 * @throws Error for a claim that is no text
 */
export function signerOfIdentity(identity: Signer['identity']): Partial<AttestationSigner> {
  const values = new Map(identity?.oids?.map(({ oid, value }) => [oid?.id.join('.') ?? '', value]));
  const claim = (oid: string): string | null => {
    const value = values.get(oid);
    return value === undefined ? null : requireText(utf8String(value));
  };
  const { subjectAlternativeName, extensions } = identity ?? {};
  return {
    issuer: claim(extension.issuer) ?? (extensions?.issuer === undefined ? null : requireText(extensions.issuer)),
    identity: subjectAlternativeName === undefined ? null : requireText(subjectAlternativeName),
    repository: claim(extension.sourceRepository),
    workflow: claim(extension.buildConfig),
    commit: claim(extension.sourceDigest),
    runUrl: claim(extension.runInvocation),
  };
}

/** Decodes a UTF8String in DER. */
function utf8String(value: Uint8Array): string {
  const [tag, first = 0] = value;
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  let length = first < 0x80 ? first : 0;
  for (const byte of value.subarray(2, 2 + lengthBytes)) length = length * 256 + byte;
  const content = value.subarray(2 + lengthBytes);
  if (tag !== 0x0c || lengthBytes > 2 || content.length !== length) {
    throw new Error('a claim of the certificate is no UTF8String');
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(content);
}

function requireText(text: string): string {
  if (text.length <= maxClaimLength && !/\p{C}/u.test(text)) return text;
  throw new Error('a claim of the certificate is too long or has control characters');
}

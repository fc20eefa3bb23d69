import type { AttestationSigner } from '@tenon/protocol';

export const statementType = 'https://in-toto.io/Statement/v1';

/** The part of an in-toto statement that every attestation has. */
export interface Statement {
  readonly _type?: unknown;
  readonly subject?: readonly { readonly digest?: { readonly sha256?: unknown } }[];
  readonly predicateType?: unknown;
  readonly predicate?: unknown;
}

export const noSigner: AttestationSigner = {
  keyId: null,
  issuer: null,
  identity: null,
  repository: null,
  workflow: null,
  commit: null,
  runUrl: null,
};

/** Returns a content address as in-toto writes digests. */
export function sha256Of(contentAddress: string): string {
  return Buffer.from(contentAddress, 'base64url').toString('hex');
}

/** Whether a subject of a statement has the digest of a content. */
export function hasSubject({ subject }: Statement, contentAddress: string): boolean {
  const sha256 = sha256Of(contentAddress);
  return Array.isArray(subject) && subject.some((one) => one?.digest?.sha256 === sha256);
}

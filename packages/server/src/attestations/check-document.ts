import { type Attachment, readAttachment } from './attachment.ts';
import { type Verification, verifyBundle } from './sigstore.ts';

/** A document that a publisher attaches, as it was sent. */
export interface AttachedDocument {
  readonly bytes: Uint8Array;
  /** Locates the document in errors. */
  readonly pointer: string;
  /** The kind that it must have; default: any. */
  readonly expected?: Attachment['kind'];
}

/** An attached document with the result of its verification. */
export interface CheckedDocument {
  readonly kind: Attachment['kind'] | 'origin';
  readonly predicateType: string;
  /** Whether it has no signature, so that this server signs it. */
  readonly isPlain: boolean;
  readonly verification: Verification;
}

const plainDetail = 'It has no signature of the publisher. This server signed it when it was attached.';

/**
 * Reads an attached document, and verifies its signature and that it is about a content. It takes up to half a second for hostile ones.
 *
 * @throws DomainError `invalid_field`
 */
export function checkDocument(
  { bytes, pointer, expected }: AttachedDocument,
  contentAddress: string,
  trustedRoots: readonly unknown[],
): CheckedDocument {
  const attachment = readAttachment(bytes, pointer, expected);
  const { kind, predicateType } = attachment;
  const isPlain = !('bundle' in attachment);
  const verification: Verification = isPlain
    ? { state: 'verified', detail: plainDetail, signer: null }
    : verifyBundle(trustedRoots, attachment, contentAddress);
  return { kind, predicateType, isPlain, verification };
}

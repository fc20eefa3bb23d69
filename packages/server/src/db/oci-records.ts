import type { ContentAddress, ExtensionPointId, OciDigest, OciUploadId, UserId, VersionId } from '@tenon/protocol';

/** An upload of an OCI client, for a plugin that need not exist. Its bytes are the contents of its chunks. */
export interface OciUploadRecord {
  readonly id: OciUploadId;
  readonly extensionPointId: ExtensionPointId;
  readonly userId: UserId;
  /** The plugin's name. */
  readonly name: string;
  /** The bytes so far. */
  readonly size: number;
  /** Of the whole blob; `null` for an unfinished upload. A finished one has a single chunk. */
  readonly contentAddress: ContentAddress | null;
  /** After this time, the upload does not exist. */
  readonly expiresAtMs: number;
}

/** A part of an upload. The garbage collector keeps its content. */
export interface OciChunkRecord {
  readonly uploadId: OciUploadId;
  /** The offset in the upload. */
  readonly startByte: number;
  readonly size: number;
  readonly contentAddress: ContentAddress;
}

/** The image with which a version was pushed. A version without one has a computed image. */
export interface OciImageRecord {
  readonly versionId: VersionId;
  readonly configDigest: OciDigest;
  readonly configType: string;
  /** The pushed JSON text. */
  readonly manifest: string;
  /** The pushed JSON text. */
  readonly config: string;
}

/** A pushed image with the digest of its manifest, which its version has. */
export interface PushedImage extends Omit<OciImageRecord, 'versionId'> {
  readonly manifestDigest: OciDigest;
}

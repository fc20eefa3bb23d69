/** An archive of a package that a server of this store offers, or has offered. */
export interface PackageRecord {
  /** Such as `tenon-client-0.1.0.tgz`. */
  readonly file: string;
  /** Such as `@tenon/client`. */
  readonly name: string;
  readonly version: string;
  /** In bytes. */
  readonly size: number;
  /** `sha512-` and the digest in base64, as in npm's lock files. */
  readonly integrity: string;
  /** When it was first offered. */
  readonly createdAtMs: number;
}

/** A part of an archive, so that archives can be copied and sent in pieces. */
export interface PackagePart {
  readonly file: string;
  /** From 0. */
  readonly number: number;
  /** {@link packagePartBytes} bytes, or the rest. */
  readonly base64: string;
}

export const packagePartBytes = 48 * 1024;

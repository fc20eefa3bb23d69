import { createHash } from 'node:crypto';

/** The proof key for code exchange (RFC 7636). */
export interface Pkce {
  /** 256 random bits in base64url, kept until the code is redeemed. */
  readonly verifier: string;
  /** Its SHA-256 in base64url, which the browser carries. */
  readonly challenge: string;
}

export function createPkce(randomBytes: (length: number) => Uint8Array): Pkce {
  const verifier = Buffer.from(randomBytes(32)).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier, 'ascii').digest('base64url') };
}

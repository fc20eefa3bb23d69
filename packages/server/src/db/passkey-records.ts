import type { PasskeyId, UserId } from '@tenon/protocol';

/** A passkey: a discoverable WebAuthn credential (https://www.w3.org/TR/webauthn-3/). */
export interface PasskeyRecord {
  readonly id: PasskeyId;
  readonly userId: UserId;
  /** The user's text. */
  readonly name: string;
  /** The credential's id, as base64url. */
  readonly credentialId: string;
  /** The COSE public key, as base64url. */
  readonly publicKey: string;
  /** The largest signature counter; 0 for an authenticator that has none. */
  readonly counter: number;
  readonly transports: readonly string[];
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
}

/** A code that replaces the passkey once, after the password. It is deleted when it is used. */
export interface RecoveryCodeRecord {
  readonly codeHash: string;
  readonly userId: UserId;
}

/** A sign-in whose password was correct, and that still needs the passkey or a recovery code. It opens nothing. */
export interface PendingSignInRecord {
  /** The hash of the secret in the browser's cookie. */
  readonly secretHash: string;
  readonly userId: UserId;
  /** The number of wrong recovery codes. */
  readonly attempts: number;
  readonly expiresAtMs: number;
}

export type ChallengePurpose = 'register' | 'sign_in' | 'confirm';

/** A challenge that one response of an authenticator can answer. */
export interface PasskeyChallengeRecord {
  readonly challenge: string;
  readonly purpose: ChallengePurpose;
  /** The browser that may answer: the id of its session, or the hash of the secret in its cookie. */
  readonly holder: string;
  /** The user whose passkey must answer; `null` for a sign-in with any account's passkey. */
  readonly userId: UserId | null;
  readonly expiresAtMs: number;
}

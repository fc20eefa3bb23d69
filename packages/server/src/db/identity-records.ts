import type { AppId, IdentityId, MemberRole, SessionId, UserId } from '@tenon/protocol';

/** A user's account at a sign-in provider. The issuer and the subject identify it. */
export interface IdentityRecord {
  readonly id: IdentityId;
  readonly userId: UserId;
  /** The provider in the server's configuration, with which it was linked. */
  readonly providerId: string;
  readonly issuer: string;
  /** The claim `sub`. */
  readonly subject: string;
  /** The e-mail address that the provider sent at the last sign-in, for display. */
  readonly email: string | null;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
}

/** How a session was started, for logouts. */
export interface SessionIdentityRecord {
  readonly sessionId: SessionId;
  readonly identityId: IdentityId;
  /** The provider's session: the claim `sid`. */
  readonly sid: string | null;
  /** For `id_token_hint` of a logout. It gives no access to this server. */
  readonly idToken: string | null;
}

/** What a browser is sent to a provider for. `confirm` is the step-up of a session. */
export type ProviderSignInPurpose = 'sign_in' | 'link' | 'confirm';

/** A sign-in in progress at a provider. Its secrets are derived from the browser's cookie. */
export interface ProviderSignInRecord {
  readonly stateHash: string;
  /** The hash of the browser's cookie, so that another browser can't complete the sign-in. */
  readonly browserHash: string;
  readonly providerId: string;
  readonly purpose: ProviderSignInPurpose;
  /** The session that links or confirms. */
  readonly sessionId: SessionId | null;
  /** The hash of the code of an invitation or a link, with which the user may create an account. */
  readonly invitationHash: string | null;
  readonly linkHash: string | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** When the provider's response arrived. A second response is a replay. */
  readonly usedAtMs: number | null;
}

/** A membership that a provider's groups granted. */
export interface GrantedMembershipRecord {
  readonly userId: UserId;
  readonly providerId: string;
  readonly appId: AppId;
  readonly role: MemberRole;
}

import type {
  AppId,
  CiClaims,
  ExtensionPointId,
  GuestId,
  TrustProvider,
  TrustRuleClaims,
  TrustRuleId,
  UserId,
} from '@tenon/protocol';

/** What a token may publish: one plugin, everything under one guest, or everything that its user may. */
export interface TokenRestriction {
  /** The extension point of the one plugin. `pluginName` is set exactly if it is. */
  readonly extensionPointId: ExtensionPointId | null;
  readonly pluginName: string | null;
  /** The one guest. Only tokens of trusted publishing have it. */
  readonly guestId: GuestId | null;
}

/**
 * A rule of trusted publishing: a CI job whose identity token has the issuer and the claims gets an access token of the user. The token
 * is restricted to a plugin or to a guest.
 */
export interface TrustRuleRecord extends TokenRestriction {
  readonly id: TrustRuleId;
  readonly userId: UserId;
  readonly appId: AppId;
  /** The template that the rule was made with. */
  readonly provider: TrustProvider;
  readonly issuer: string;
  readonly claims: TrustRuleClaims;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
}

/** An identity token that was exchanged, and can't be exchanged again. */
export interface UsedIdTokenRecord {
  /** The SHA-256 of the issuer and the token's `jti`, or of the token itself if it has none. */
  readonly key: string;
  /** When the token is rejected in any case. */
  readonly expiresAtMs: number;
}

/** The columns of a token that restrict it or say where it comes from. */
export interface TokenOrigin extends TokenRestriction {
  /** The networks from which it may be used, as CIDR; `null` for all. */
  readonly networks: readonly string[] | null;
  /** The rule of trusted publishing that it was made by. */
  readonly trustRuleId: TrustRuleId | null;
  /** The CI job that published with it; `null` without trusted publishing. */
  readonly claims: CiClaims | null;
}

/** The restrictions of a token that has none. */
export const unrestricted = {
  extensionPointId: null,
  pluginName: null,
  guestId: null,
  networks: null,
  trustRuleId: null,
  claims: null,
} as const satisfies TokenOrigin;

/** How a caller tried to sign in, or to get a token. */
const refusalMeans = ['password', 'passkey', 'recovery_code', 'oidc', 'token_exchange'] as const;

export type RefusalMeans = (typeof refusalMeans)[number];

/** Why the server refused. The values are stable: the audit trail and metrics contain them. */
const refusalReasons = [
  'wrong_password',
  'wrong_code',
  'rate_limited',
  'suspended',
  'no_account',
  'not_allowed',
  'turned_off',
  // Tokens of identity providers and of CI systems.
  'malformed',
  'issuer',
  'audience',
  'subject',
  'nonce',
  'state',
  'expired',
  'not_yet_valid',
  'replayed',
  'algorithm',
  'unknown_key',
  'signature',
  'repository',
  'claims',
  'no_rule',
  'provider',
  // Passkeys.
  'unknown_passkey',
  'other_account',
  'rp_id',
  'challenge',
  'origin',
  'user_verification',
  'counter',
] as const;

export type RefusalReason = (typeof refusalReasons)[number];

/** Counts refusals for metrics. */
export interface RefusalCounts {
  refused(means: RefusalMeans, reason: RefusalReason): void;
  /** Called for a refusal without an audit event. */
  suppressed(): void;
}

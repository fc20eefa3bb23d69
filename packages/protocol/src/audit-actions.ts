import { type ExtensionPointInput, extensionPointInput } from './extension-points.ts';

/* The actions in the audit trail. */

export type AuditTrail =
  /** The application's trail, which its owners read. */
  | 'app'
  /** Only the account's trail. */
  | 'account'
  /** The account's trail and that of each application that the action concerns. */
  | 'both';

/** The kind of resource that an action changes. */
export type AuditTargetKind =
  | 'app'
  | 'user'
  | 'extension_point'
  | 'guest'
  | 'invitation'
  | 'plugin'
  | 'session'
  | 'passkey'
  | 'identity'
  | 'token'
  | 'api_key'
  | 'trust_rule'
  | 'client'
  | 'link'
  | 'signing_key'
  | 'webhook';

interface AuditActionInfo {
  /** A phrase between the names of the actor and the target. */
  readonly phrase: string;
  readonly trail: AuditTrail;
  readonly target: AuditTargetKind;
  /** The allowed properties of `details`. None may hold a secret or a person's name. */
  readonly details: readonly string[];
}

const action = <const T extends AuditTrail, const K extends AuditTargetKind, const D extends readonly string[]>(
  trail: T,
  target: K,
  phrase: string,
  details: D,
) => ({ trail, target, phrase, details });

const extensionPointDetails = Object.keys(extensionPointInput.properties) as (keyof ExtensionPointInput)[];

const simulationDetails = ['simulation', 'revision', 'kind', 'testModule', 'mockHost', 'size'] as const;

const rollOutDetails = ['version', 'versionId', 'step', 'reason'] as const;

const refusalDetails = [
  'means',
  'reason',
  'provider',
  'issuer',
  'subject',
  'audience',
  'repository',
  'ruleId',
] as const;

const trustRuleDetails = ['guestIds', 'extensionPointId', 'plugin', 'issuer', 'claims'] as const;

/**
 * All audited actions. `docs/reference/audit.md` has the same list.
 *
 * The detail of a changed field is `{"before": …, "after": …}`.
 */
export const auditActions = {
  'app.create': action('app', 'app', 'created the application', ['name']),
  'app.update': action('app', 'app', 'changed the application', ['name', 'requiresPasskey']),
  'app.quota': action('both', 'app', 'set a quota of the application', ['quota', 'limit']),
  'app.delete': action('app', 'app', 'deleted the application', []),
  'member.invite': action('app', 'invitation', 'invited a member to the team', ['role']),
  'member.put': action('app', 'user', 'set the role of', ['role', 'provider']),
  'member.remove': action('app', 'user', 'removed the member', ['role', 'provider']),
  'member.leave': action('app', 'user', 'left the team', ['role']),
  'extension_point.create': action('app', 'extension_point', 'created the extension point', extensionPointDetails),
  'extension_point.update': action('app', 'extension_point', 'changed the extension point', [
    ...extensionPointDetails,
    'imports',
  ]),
  'extension_point.delete': action('app', 'extension_point', 'deleted the extension point', []),
  'simulation.put': action('app', 'extension_point', 'set a simulation of the extension point', simulationDetails),
  'simulation.delete': action('app', 'extension_point', 'deleted a simulation of the extension point', [
    'simulation',
    'revision',
  ]),
  'guest.invite': action('app', 'guest', 'invited a user for the guest', ['guestIds', 'invitationId']),
  'guest.update': action('app', 'guest', 'changed the guest', ['guestIds', 'fields']),
  'guest.remove': action('app', 'guest', 'removed the guest', ['guestIds']),
  'guest.remove_user': action('app', 'user', 'removed a guest from', ['guestIds']),
  'invitation.accept': action('app', 'invitation', 'accepted the invitation', ['guestIds', 'role', 'invitedBy']),
  'invitation.decline': action('app', 'invitation', 'declined the invitation', ['guestIds', 'role', 'invitedBy']),
  'invitation.renew': action('app', 'invitation', 'renewed the invitation', ['guestIds', 'role', 'invitedBy']),
  'invitation.revoke': action('app', 'invitation', 'revoked the invitation', [
    'guestIds',
    'role',
    'invitedBy',
    'cause',
  ]),
  'plugin.publish': action('app', 'plugin', 'published the plugin', [
    'guestIds',
    'version',
    'versionId',
    'semver',
    'state',
    'contentAddress',
    'size',
    'isNew',
    'provenance',
    'provenanceFault',
    'import',
  ]),
  'plugin.roll_back': action('app', 'plugin', 'rolled back the plugin', ['guestIds', 'version', 'versionId']),
  'plugin.describe': action('app', 'plugin', 'changed the description of the plugin', ['fields']),
  'plugin.block': action('app', 'plugin', 'blocked the plugin', ['reason', 'isConfirmed']),
  'plugin.unblock': action('app', 'plugin', 'unblocked the plugin', []),
  'plugin.delete': action('app', 'plugin', 'deleted the plugin', ['guestIds', 'versions']),
  'plugin.end_withdrawal': action('app', 'plugin', 'allowed withdrawn content of the plugin', ['contentAddress']),
  'plugin.find_similar': action('app', 'plugin', 'found plugins with a name similar to that of', ['similar']),
  'publisher.block': action('app', 'user', 'blocked all plugins of', ['reason', 'plugins', 'isConfirmed']),
  'publisher.unblock': action('app', 'user', 'unblocked the plugins of', []),
  'version.test': action('app', 'plugin', 'tested a version of the plugin', [
    'version',
    'versionId',
    'verdict',
    'reason',
  ]),
  'version.retest': action('app', 'plugin', 'requested a test of a version of the plugin', ['version', 'versionId']),
  'version.approve': action('app', 'plugin', 'approved a version of the plugin', ['version', 'versionId', 'reason']),
  'version.reject': action('app', 'plugin', 'rejected a version of the plugin', ['version', 'versionId', 'reason']),
  'version.yank': action('app', 'plugin', 'yanked a version of the plugin', ['version', 'versionId', 'reason']),
  'version.release': action('app', 'plugin', 'released a version of the plugin', [
    'version',
    'versionId',
    'reason',
    'state',
  ]),
  'version.restore': action('app', 'plugin', 'restored a version of the plugin', ['version', 'versionId', 'reason']),
  'version.attach': action('app', 'plugin', 'attached an attestation to a version of the plugin', [
    'version',
    'versionId',
    'attestationId',
    'kind',
    'state',
    'signer',
    'size',
  ]),
  'roll_out.start': action('app', 'plugin', 'started the roll-out of a version of the plugin', [
    'version',
    'versionId',
    'plan',
  ]),
  'roll_out.advance': action('app', 'plugin', 'moved on the roll-out of a version of the plugin', rollOutDetails),
  'roll_out.pause': action('app', 'plugin', 'paused the roll-out of a version of the plugin', rollOutDetails),
  'roll_out.resume': action('app', 'plugin', 'resumed the roll-out of a version of the plugin', rollOutDetails),
  'roll_out.promote': action('app', 'plugin', 'promoted a version of the plugin', [...rollOutDetails, 'full']),
  'roll_out.halt': action('app', 'plugin', 'halted the roll-out of a version of the plugin', rollOutDetails),
  'roll_out.abort': action('app', 'plugin', 'aborted the roll-out of a version of the plugin', rollOutDetails),
  'roll_out.complete': action('app', 'plugin', 'completed the roll-out of a version of the plugin', [
    'version',
    'versionId',
  ]),
  'roll_out.supersede': action('app', 'plugin', 'ended the roll-out of an older version of the plugin', [
    'version',
    'versionId',
    'by',
  ]),
  'binding.pin': action('app', 'plugin', 'pinned a version of the plugin', ['guestIds', 'version', 'versionId']),
  'binding.unpin': action('app', 'plugin', 'unpinned the plugin', ['guestIds', 'version', 'versionId']),
  'account.create': action('account', 'user', 'created the account', ['means', 'provider']),
  'account.update': action('account', 'user', 'changed the account', ['name', 'mutedNotices']),
  'account.verify_email': action('account', 'user', 'verified the e-mail address of', []),
  'account.email_request': action('account', 'user', 'requested another e-mail address for', []),
  'account.email_change': action('account', 'user', 'changed the e-mail address of', []),
  'account.password_link': action('account', 'user', 'created a password link for', ['linkId']),
  'account.password_change': action('account', 'user', 'changed the password of', ['revokedTokens']),
  'account.password_reset': action('account', 'user', 'reset the password of', ['linkId', 'revokedTokens']),
  'account.revoke_credentials': action('account', 'user', 'revoked the credentials of', [
    'sessions',
    'tokens',
    'apiKeys',
    'includesCurrent',
  ]),
  'account.quota': action('account', 'user', 'set a quota of the account', ['quota', 'limit']),
  'account.suspend': action('account', 'user', 'suspended the account', []),
  'account.unsuspend': action('account', 'user', 'ended the suspension of the account', []),
  'account.delete': action('both', 'user', 'deleted the account', []),
  'identity.link': action('account', 'identity', 'linked the sign-in', ['provider', 'means']),
  'identity.unlink': action('account', 'identity', 'removed the sign-in', ['provider']),
  'session.start': action('account', 'session', 'signed in', ['means', 'provider']),
  'session.confirm': action('account', 'session', 'confirmed the session', ['means', 'provider']),
  'session.end': action('account', 'session', 'signed out', ['cause']),
  'sign_in.refuse': action('account', 'user', 'refused a sign-in to', refusalDetails),
  'token_exchange.refuse': action('both', 'user', 'refused a token exchange for', refusalDetails),
  'token.create': action('account', 'token', 'created the access token', [
    'scopes',
    'appId',
    'expiresAt',
    'means',
    'plugin',
    'guestId',
    'networks',
    'trustRuleId',
    'claims',
  ]),
  'passkey.register': action('account', 'passkey', 'registered the passkey', []),
  'passkey.rename': action('account', 'passkey', 'renamed the passkey', ['name']),
  'passkey.remove': action('account', 'passkey', 'removed the passkey', []),
  'recovery_codes.create': action('account', 'user', 'created recovery codes for', []),
  'recovery_codes.use': action('account', 'user', 'used a recovery code of', ['remaining']),
  'second_factor.reset': action('account', 'user', 'removed the passkeys and recovery codes of', ['passkeys']),
  'token.revoke': action('account', 'token', 'revoked the access token', ['cause']),
  'token.new_network': action('account', 'token', 'noticed a new network of the access token', ['network']),
  'trust_rule.create': action('both', 'trust_rule', 'let CI jobs publish by the rule', trustRuleDetails),
  'trust_rule.delete': action('both', 'trust_rule', 'deleted the rule for CI jobs', trustRuleDetails),
  'api_key.create': action('account', 'api_key', 'created the API key', ['expiresAt']),
  'api_key.revoke': action('account', 'api_key', 'revoked the API key', []),
  'api_key.new_network': action('account', 'api_key', 'noticed a new network of the API key', ['network']),
  'login.approve': action('account', 'client', 'approved a login of the program', ['scopes', 'means', 'deviceAddress']),
  'login.deny': action('account', 'client', 'denied a login of the program', ['means', 'deviceAddress']),
  'login.revoke': action('account', 'client', 'revoked an approved login of the program', []),
  'link.create': action('account', 'link', 'created a set-up link', ['isForFirstUser']),
  'operator.grant': action('account', 'user', 'granted the operator role to', ['means', 'provider']),
  'operator.revoke': action('account', 'user', 'revoked the operator role of', ['means', 'provider']),
  'signing_key.create': action('account', 'signing_key', 'created the signing key', ['origin', 'validFrom']),
  'signing_key.revoke': action('account', 'signing_key', 'revoked the signing key', []),
  'webhook.create': action('app', 'webhook', 'created the webhook', ['host', 'actions']),
  'webhook.update': action('app', 'webhook', 'changed the webhook', ['host', 'description', 'actions', 'state']),
  'webhook.disable': action('app', 'webhook', 'disabled the webhook', ['state']),
  'webhook.rotate_secret': action('app', 'webhook', 'rotated the secret of the webhook', ['overlapHours']),
  'webhook.test': action('app', 'webhook', 'tested the webhook', []),
  'webhook.replay': action('app', 'webhook', 'replayed deliveries of the webhook', ['deliveryId', 'since', 'replayed']),
  'webhook.delete': action('app', 'webhook', 'deleted the webhook', []),
} satisfies Readonly<Record<string, AuditActionInfo>>;

export type AuditAction = keyof typeof auditActions;

/** The allowed properties of an action's `details`. */
export type AuditDetail<A extends AuditAction> = (typeof auditActions)[A]['details'][number];

export function isAuditAction(text: string): text is AuditAction {
  return Object.hasOwn(auditActions, text);
}

/** Returns the actions of a trail, including those of both trails. */
export function auditActionsOf(trail: Exclude<AuditTrail, 'both'>): AuditAction[] {
  const actions = Object.entries(auditActions) as [AuditAction, AuditActionInfo][];
  return actions.filter(([, info]) => info.trail === trail || info.trail === 'both').map(([action]) => action);
}

/** The actions that webhooks send. A deleted application has no webhooks. A test goes only to its own webhook. */
export const webhookActions: readonly AuditAction[] = auditActionsOf('app').filter(
  (action) => action !== 'app.delete' && action !== 'webhook.test',
);

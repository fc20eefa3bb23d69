/* The actions in the audit trail. */

/** The trail of an action, besides that of the account that performs it. */
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
  | 'token'
  | 'api_key'
  | 'client'
  | 'link';

interface AuditActionInfo {
  /** The action as a phrase that follows the name of the actor. */
  readonly words: string;
  readonly trail: AuditTrail;
  readonly target: AuditTargetKind;
  /** The allowed properties of `details`. None may hold a secret or a person's name. */
  readonly details: readonly string[];
}

/**
 * All audited actions. `docs/reference/audit.md` has the same list.
 *
 * The detail of a changed field is `{"before": …, "after": …}`.
 */
export const auditActions = {
  'app.create': { words: 'made the application', trail: 'app', target: 'app', details: ['name'] },
  'app.update': { words: 'changed the application', trail: 'app', target: 'app', details: ['name'] },
  'app.delete': { words: 'deleted the application', trail: 'app', target: 'app', details: [] },
  'member.invite': {
    words: 'invited a member to the team',
    trail: 'app',
    target: 'invitation',
    details: ['role'],
  },
  'member.put': { words: 'set the role of', trail: 'app', target: 'user', details: ['role'] },
  'member.remove': { words: 'took off the team', trail: 'app', target: 'user', details: ['role'] },
  'member.leave': { words: 'left the team', trail: 'app', target: 'user', details: ['role'] },
  'extension_point.create': {
    words: 'made the extension point',
    trail: 'app',
    target: 'extension_point',
    details: ['name', 'requiresApproval', 'limits', 'schema'],
  },
  'extension_point.update': {
    words: 'changed the extension point',
    trail: 'app',
    target: 'extension_point',
    details: ['name', 'requiresApproval', 'limits', 'schema'],
  },
  'extension_point.delete': {
    words: 'deleted the extension point',
    trail: 'app',
    target: 'extension_point',
    details: [],
  },
  'guest.invite': {
    words: 'invited a user as the guest',
    trail: 'app',
    target: 'guest',
    details: ['guestIds', 'invitationId'],
  },
  'guest.remove': { words: 'removed the guest', trail: 'app', target: 'guest', details: ['guestIds'] },
  'guest.remove_user': {
    words: 'took a guest from',
    trail: 'app',
    target: 'user',
    details: ['guestIds'],
  },
  'invitation.accept': {
    words: 'accepted the invitation',
    trail: 'app',
    target: 'invitation',
    details: ['guestIds', 'role', 'invitedBy'],
  },
  'invitation.decline': {
    words: 'declined the invitation',
    trail: 'app',
    target: 'invitation',
    details: ['guestIds', 'role', 'invitedBy'],
  },
  'invitation.revoke': {
    words: 'revoked the invitation',
    trail: 'app',
    target: 'invitation',
    details: ['guestIds', 'role', 'invitedBy', 'cause'],
  },
  'plugin.publish': {
    words: 'published the plugin',
    trail: 'app',
    target: 'plugin',
    details: ['guestIds', 'version', 'versionId', 'semver', 'state', 'contentAddress', 'size', 'isNew'],
  },
  'plugin.roll_back': {
    words: 'rolled back the plugin',
    trail: 'app',
    target: 'plugin',
    details: ['guestIds', 'version', 'versionId'],
  },
  'plugin.block': { words: 'blocked the plugin', trail: 'app', target: 'plugin', details: ['reason'] },
  'plugin.unblock': { words: 'unblocked the plugin', trail: 'app', target: 'plugin', details: [] },
  'plugin.delete': { words: 'deleted the plugin', trail: 'app', target: 'plugin', details: ['guestIds', 'versions'] },
  'plugin.end_withdrawal': {
    words: 'gave back withdrawn bytes of the plugin',
    trail: 'app',
    target: 'plugin',
    details: ['contentAddress'],
  },
  'version.approve': {
    words: 'approved a version of the plugin',
    trail: 'app',
    target: 'plugin',
    details: ['version', 'versionId', 'reason'],
  },
  'version.reject': {
    words: 'rejected a version of the plugin',
    trail: 'app',
    target: 'plugin',
    details: ['version', 'versionId', 'reason'],
  },
  'version.yank': {
    words: 'yanked a version of the plugin',
    trail: 'app',
    target: 'plugin',
    details: ['version', 'versionId', 'reason'],
  },
  'version.restore': {
    words: 'restored a version of the plugin',
    trail: 'app',
    target: 'plugin',
    details: ['version', 'versionId', 'reason'],
  },
  'binding.pin': {
    words: 'pinned a version of the plugin',
    trail: 'app',
    target: 'plugin',
    details: ['guestIds', 'version', 'versionId'],
  },
  'binding.unpin': {
    words: 'took back the pin of the plugin',
    trail: 'app',
    target: 'plugin',
    details: ['guestIds', 'version', 'versionId'],
  },
  'account.create': { words: 'made the account', trail: 'account', target: 'user', details: ['means'] },
  'account.update': { words: 'changed the account', trail: 'account', target: 'user', details: ['name'] },
  'account.password_link': {
    words: 'made a link that sets the password of',
    trail: 'account',
    target: 'user',
    details: ['linkId'],
  },
  'account.password_change': {
    words: 'changed the password of',
    trail: 'account',
    target: 'user',
    details: ['revokedTokens'],
  },
  'account.password_reset': {
    words: 'reset the password of',
    trail: 'account',
    target: 'user',
    details: ['linkId', 'revokedTokens'],
  },
  'account.delete': { words: 'deleted the account', trail: 'both', target: 'user', details: [] },
  'session.start': { words: 'signed in', trail: 'account', target: 'session', details: [] },
  'session.confirm': { words: 'entered the password again', trail: 'account', target: 'session', details: [] },
  'session.end': { words: 'signed out', trail: 'account', target: 'session', details: ['cause'] },
  'token.create': {
    words: 'made the access token',
    trail: 'account',
    target: 'token',
    details: ['scopes', 'appId', 'expiresAt', 'means'],
  },
  'token.revoke': { words: 'revoked the access token', trail: 'account', target: 'token', details: ['cause'] },
  'api_key.create': { words: 'made the API key', trail: 'account', target: 'api_key', details: ['expiresAt'] },
  'api_key.revoke': { words: 'revoked the API key', trail: 'account', target: 'api_key', details: [] },
  'login.approve': {
    words: 'let a program log in',
    trail: 'account',
    target: 'client',
    details: ['scopes', 'means', 'deviceAddress'],
  },
  'login.deny': {
    words: 'denied a program that wanted to log in',
    trail: 'account',
    target: 'client',
    details: ['means', 'deviceAddress'],
  },
  'link.create': {
    words: 'made a link for a new account',
    trail: 'account',
    target: 'link',
    details: ['isForFirstUser'],
  },
  'operator.grant': { words: 'made an operator of', trail: 'account', target: 'user', details: ['means'] },
  'operator.revoke': { words: 'made no longer an operator of', trail: 'account', target: 'user', details: [] },
} as const satisfies Readonly<Record<string, AuditActionInfo>>;

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

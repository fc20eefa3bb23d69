import { isId, isPluginName, type TokenScope, type UserId } from '@tenon/protocol';
import { ConflictError, type Queries } from '../../db/store.ts';
import type { TrustRuleRecord } from '../../db/trust-records.ts';
import type { Deps } from '../../deps.ts';
import { networkOf } from '../../http/client-address.ts';
import { TooManyAttemptsError } from '../../http/domain-errors.ts';
import { OauthError } from '../oauth/errors.ts';
import type { RefusalReason } from '../refusal-reasons.ts';
import { recordRefusal } from '../refusals.ts';
import { makeToken, type NewToken, storeToken } from '../tokens.ts';
import { matchesClaims, toCiClaims } from './claims.ts';
import { IdTokenError, type VerifiedIdToken, verifyIdToken } from './id-tokens.ts';
import type { IssuerKeys } from './issuer-keys.ts';

/** The lifetime of a token of trusted publishing. */
export const publishTokenLifetimeMs = 15 * 60_000;

/** The most tokens of a rule at the same time. */
const maxTokensPerRule = 20;

/** How many rules are read at once. */
const ruleBatchSize = 500;

/** A request for a token of trusted publishing (RFC 8693 §2.1). */
interface TokenExchange {
  readonly subjectToken: string;
  /** The plugin to publish: `<extension point>/<name>`, or its id. */
  readonly audience: string | undefined;
  readonly scope: string | undefined;
  /** The client's network address. */
  readonly address: string;
  /** This server's URL. */
  readonly serverUrl: string;
}

/** The plugin that a request names. */
interface RequestedPlugin {
  readonly extensionPointId: string;
  readonly userId: string | undefined;
  readonly name: string;
}

/** A rule can't be used now, which is found out in the transaction. */
class RuleError extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * Exchanges the identity token of a CI job for an access token, once, if a rule matches. Records each refusal in the audit trail.
 *
 * @throws OauthError `invalid_request` for an identity token that is refused, `invalid_target` if `audience` names no plugin, or if
 *   rules of several accounts match, `invalid_scope`; TooManyAttemptsError
 */
export async function exchangeIdToken(deps: Deps, keys: IssuerKeys, request: TokenExchange): Promise<NewToken> {
  const { address, serverUrl } = request;
  const seconds = deps.rates.tokenExchanges.take(`network ${networkOf(address)}`);
  if (seconds > 0) throw new TooManyAttemptsError('Your network requests too many tokens.', seconds);
  const scopes = parseScope(request.scope);
  const plugin = parsePlugin(request.audience);
  const refuse = async (reason: RefusalReason, message: string, details = {}, rule?: TrustRuleRecord) => {
    const accountId = rule?.userId;
    await recordRefusal(deps, { means: 'token_exchange', reason, address, accountId, appId: rule?.appId, details });
    return new OauthError('invalid_request', message);
  };
  const verified = await verifyIdToken(deps, keys, request.subjectToken, serverUrl).catch(async (error: unknown) => {
    if (!(error instanceof IdTokenError)) throw error;
    throw await refuse(error.reason, error.message, error.facts);
  });
  const rules = await findRules(deps, verified, plugin);
  const [rule] = rules;
  if (rule === undefined) {
    throw await refuse(
      'claims',
      'No rule of trusted publishing matches the claims of the identity token.',
      verified.facts,
    );
  }
  requireUnambiguous(rules, plugin);
  const wait = deps.rates.tokenExchanges.take(`issuer ${rule.userId} ${verified.issuer}`);
  if (wait > 0) throw new TooManyAttemptsError('The issuer requests too many tokens for the account.', wait);
  try {
    return await issue(deps, rule, verified, scopes);
  } catch (error) {
    const { facts } = verified;
    const details = { ...facts, ruleId: rule.id };
    if (error instanceof ConflictError) {
      throw await refuse('replayed', 'The identity token was used already. Get another one.', details, rule);
    }
    if (error instanceof RuleError) throw await refuse(error.reason, error.message, details, rule);
    throw error;
  }
}

/** Stores the token, unless the identity token was used already. */
function issue(
  deps: Deps,
  { id }: TrustRuleRecord,
  { claims, key, expiresAtMs }: VerifiedIdToken,
  scopes: readonly TokenScope[],
): Promise<NewToken> {
  return deps.store.write(async (tx) => {
    const nowMs = deps.clock();
    await tx.insertUsedIdToken({ key, expiresAtMs });
    const rule = await tx.trustRule(id);
    if (rule === undefined) throw new RuleError('no_rule', 'The rule of trusted publishing was deleted.');
    await requireRights(tx, rule);
    if ((await tx.countTokensOfTrustRule(id, nowMs, maxTokensPerRule)) >= maxTokensPerRule) {
      throw new RuleError('rate_limited', `The rule has ${maxTokensPerRule} tokens. Revoke tokens after their use.`);
    }
    const { userId, appId, extensionPointId, pluginName, guestId } = rule;
    const ci = toCiClaims(rule.provider, claims);
    const token = makeToken({ random: deps.random, clock: () => nowMs }, userId, {
      name: `CI: ${ci.repository ?? ci.subject}`.slice(0, 200),
      scopes,
      appId,
      extensionPointId,
      pluginName,
      guestId,
      trustRuleId: id,
      claims: ci,
      expiresAtMs: nowMs + publishTokenLifetimeMs,
    });
    await storeToken(deps, tx, { userId, sessionId: null }, token.record, 'trusted_publishing');
    await tx.setTrustRuleUsed(id, nowMs);
    return token;
  });
}

/** Requires that the user of a rule may still publish what it allows. */
async function requireRights(
  tx: Queries,
  { userId, appId, guestId, extensionPointId }: TrustRuleRecord,
): Promise<void> {
  const user = await tx.user(userId);
  if (user === undefined || user.deletedAtMs !== null || user.suspendedAtMs !== null) {
    throw new RuleError('suspended', 'The account of the rule is suspended.');
  }
  const held = await tx.guestsHeldBy(userId, appId, { limit: 1, ...(guestId !== null && { guestId }) });
  const point = extensionPointId === null ? undefined : await tx.extensionPoint(extensionPointId);
  if (held.length === 0 || (extensionPointId !== null && point === undefined)) {
    throw new RuleError('not_allowed', 'The account of the rule is not a guest of the application any more.');
  }
}

/**
 * Finds the rules that match the claims of a token and the requested plugin. A user's rules for the plugin itself come before the user's
 * rules for a guest, and not before those of other users: {@link requireUnambiguous}.
 */
async function findRules(
  { store: { read } }: Deps,
  { issuer, claims }: VerifiedIdToken,
  plugin: RequestedPlugin | undefined,
): Promise<TrustRuleRecord[]> {
  const point =
    plugin && isId('extensionPoint', plugin.extensionPointId)
      ? await read.extensionPoint(plugin.extensionPointId)
      : undefined;
  if (plugin !== undefined && point === undefined) return [];
  const isRequested = (rule: TrustRuleRecord): boolean => {
    if (plugin === undefined) return true;
    if (plugin.userId !== undefined && plugin.userId !== rule.userId) return false;
    if (rule.pluginName === null) return rule.appId === point?.appId;
    return rule.extensionPointId === point?.id && rule.pluginName === plugin.name;
  };
  const found: TrustRuleRecord[] = [];
  for (let after: string | undefined; ; ) {
    const batch = await read.trustRulesOfIssuer(issuer, { after, limit: ruleBatchSize });
    found.push(...batch.filter((rule) => isRequested(rule) && matchesClaims(rule.claims, claims)));
    if (batch.length < ruleBatchSize) break;
    after = batch.at(-1)?.id;
  }
  const usersWithPlugin = new Set(found.filter(({ pluginName }) => pluginName !== null).map(({ userId }) => userId));
  return found.filter(({ pluginName, userId }) => pluginName !== null || !usersWithPlugin.has(userId));
}

/**
 * Requires that all matching rules allow the same. Otherwise an account could get the plugins of another account's jobs with a rule for
 * their repository.
 *
 * @throws OauthError `invalid_target`
 */
function requireUnambiguous(rules: readonly TrustRuleRecord[], plugin: RequestedPlugin | undefined): void {
  const targets = new Set(
    rules.map(({ userId, extensionPointId, pluginName, guestId }) =>
      [userId, extensionPointId, pluginName, guestId].join(' '),
    ),
  );
  if (targets.size === 1) return;
  throw new OauthError(
    'invalid_target',
    plugin === undefined
      ? 'Several rules match the identity token. Name the plugin: audience=<extension point>/plugin/<user>/<name>.'
      : 'Several rules match the identity token. Name the user, or delete rules: audience=<extension point>/plugin/<user>/<name>.',
  );
}

/** @throws OauthError `invalid_scope` */
function parseScope(scope: string | undefined): readonly TokenScope[] {
  const scopes = scope === undefined ? ['publish'] : scope.split(' ');
  if (!scopes.every((name) => name === 'publish' || name === 'read')) {
    throw new OauthError('invalid_scope', 'The scope must be "publish", or "read publish".');
  }
  return (['read', 'publish'] as const).filter((name) => scopes.includes(name));
}

/** @throws OauthError `invalid_target` */
function parsePlugin(audience: string | undefined): RequestedPlugin | undefined {
  if (audience === undefined) return undefined;
  const parts = audience.split('/');
  const isPluginId = parts.length === 4 && parts[1] === 'plugin';
  const [extensionPointId = '', , userId] = parts;
  const name = parts.at(-1) ?? '';
  if ((parts.length === 2 || isPluginId) && isPluginName(name)) {
    return { extensionPointId, userId: isPluginId ? (userId as UserId) : undefined, name };
  }
  throw new OauthError('invalid_target', 'The audience must be <extension point>/<name>, or the id of a plugin.');
}

import {
  isId,
  maxTrustRules,
  newId,
  type TrustProvider,
  type TrustRuleClaims,
  type TrustRuleInput,
  type UserId,
} from '@tenon/protocol';
import { type AppEntry, record } from '../../audit/record.ts';
import { type PageOf, readPage } from '../../db/paging.ts';
import type { GuestRecord } from '../../db/records.ts';
import type { Page, Queries } from '../../db/store.ts';
import type { TrustRuleRecord } from '../../db/trust-records.ts';
import type { Deps } from '../../deps.ts';
import { DomainError, invalidField, notFound } from '../../http/domain-errors.ts';
import { type Actor, type AppAccess, renewAccess, requireActiveToken } from '../access.ts';
import { requireStepUp } from '../confirmation.ts';
import { pinsProject, reservedClaims, trustProviders } from './claims.ts';
import type { TrustRuleWithUser } from './trust-rule-queries.ts';

/** What a rule allows jobs to publish: one plugin, or everything under one guest. */
type RuleTarget = Pick<TrustRuleRecord, 'appId' | 'extensionPointId' | 'pluginName' | 'guestId'>;

/**
 * Lets CI jobs publish in the name of the actor. In a browser's session, it needs step-up.
 *
 * @throws DomainError `invalid_field` for an issuer or claims that are not allowed, and for an extension point or guest of which the
 *   actor is no guest; `forbidden` for a token that is restricted to networks; `limit_exceeded`, `step_up_required`
 */
export async function createTrustRule(deps: Deps, actor: Actor, input: TrustRuleInput): Promise<TrustRuleWithUser> {
  if (actor.networks !== null) {
    throw new DomainError('forbidden', 'The token is restricted to networks, and CI jobs publish from all networks.');
  }
  const { provider, claims } = input;
  const issuer = requireIssuer(deps, provider, input.issuer);
  requireClaims(provider, claims);
  await requireStepUp(deps, actor.sessionId);
  return deps.store.write(async (tx) => {
    await requireActiveToken(tx, actor);
    await requireStepUp(deps, actor.sessionId, tx);
    const target = await requireTarget(tx, actor.userId, input);
    if ((await tx.countTrustRules(actor.userId)) >= maxTrustRules) {
      throw new DomainError('limit_exceeded', `An account can have at most ${maxTrustRules} rules. Delete some.`);
    }
    const rule: TrustRuleRecord = {
      ...target,
      id: newId('trustRule'),
      userId: actor.userId,
      provider,
      issuer,
      claims,
      createdAtMs: deps.clock(),
      lastUsedAtMs: null,
    };
    await tx.insertTrustRule(rule);
    await record(deps, tx, actor, { ...(await auditFacts(tx, rule)), action: 'trust_rule.create' });
    return { ...rule, userName: (await tx.user(actor.userId))?.name ?? '' };
  });
}

/** Deletes a rule of the actor, and revokes the tokens that were issued by it. @throws DomainError `not_found` */
export async function deleteTrustRule(deps: Deps, actor: Actor, ruleId: string): Promise<void> {
  await deps.store.write(async (tx) => {
    await requireActiveToken(tx, actor);
    const rule = isId('trustRule', ruleId) ? await tx.trustRule(ruleId) : undefined;
    if (rule?.userId !== actor.userId) throw notFound('rule');
    await record(deps, tx, actor, { ...(await auditFacts(tx, rule)), action: 'trust_rule.delete' });
    await tx.deleteTrustRule(rule.id);
  });
}

/**
 * Deletes a rule for an application in the name of its team, and revokes the tokens that were issued by it. The event in the trail of the
 * rule's user does not name the actor.
 *
 * @throws DomainError `not_found`
 */
export async function deleteTrustRuleOfApp(deps: Deps, access: AppAccess, ruleId: string): Promise<void> {
  const { actor, app } = access;
  await deps.store.write(async (tx) => {
    await renewAccess(tx, access, 'decideOnPlugins');
    const rule = isId('trustRule', ruleId) ? await tx.trustRule(ruleId) : undefined;
    if (rule?.appId !== app.id) throw notFound('rule');
    const entry = { ...(await auditFacts(tx, rule)), action: 'trust_rule.delete' } as const;
    await record(deps, tx, actor, entry);
    if (rule.userId !== actor.userId) {
      const { action, target, details } = entry;
      await record(deps, tx, 'system', { action, accountId: rule.userId, target, ...(details && { details }) });
    }
    await tx.deleteTrustRule(rule.id);
  });
}

/** Lists the actor's rules. */
export function listTrustRules(
  { store: { read } }: Deps,
  actor: Actor,
  page: Page,
): Promise<PageOf<TrustRuleWithUser>> {
  return readPage(page, cursorOf, (range) => read.trustRulesOf(actor.userId, range));
}

/** Lists the rules of all users that concern an application. */
export function listTrustRulesOfApp(
  { store: { read } }: Deps,
  { app }: AppAccess,
  page: Page,
): Promise<PageOf<TrustRuleWithUser>> {
  return readPage(page, cursorOf, (range) => read.trustRulesOfApp(app.id, range));
}

const cursorOf = ({ id }: TrustRuleWithUser): string => id;

async function auditFacts(
  tx: Pick<Queries, 'guest'>,
  { id, appId, extensionPointId, pluginName, guestId, issuer, claims }: TrustRuleRecord,
): Promise<Omit<AppEntry<'trust_rule.create'>, 'action'>> {
  const guest: GuestRecord | undefined = guestId === null ? undefined : await tx.guest(guestId);
  const ofPlugin = extensionPointId === null ? {} : { extensionPointId, plugin: pluginName };
  return {
    appId,
    target: { id, name: pluginName },
    details: { ...ofPlugin, issuer, claims },
    ...(guest && { guests: [guest] }),
  };
}

/** @throws DomainError `invalid_field` */
function requireIssuer({ settings }: Deps, provider: TrustProvider, input: string | undefined): string {
  const issuer = input ?? trustProviders[provider].issuer;
  if (issuer === undefined) throw invalidField('/issuer', `is required for the provider "${provider}"`);
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  const isPlain = url !== undefined && !/[?#@\s]/.test(issuer) && /^https?:\/\/[^/]/.test(issuer);
  if (!isPlain)
    throw invalidField('/issuer', 'must be an https URL without a query, as in the claim "iss" of the tokens');
  const isTrusted = settings.trustedIssuers.includes(issuer);
  if (url.protocol !== 'https:' && !(isTrusted && isLoopback(url.hostname))) {
    throw invalidField(
      '/issuer',
      'must be an https URL. An http URL of a loopback host must be in TENON_TRUSTED_ISSUERS',
    );
  }
  const own = Object.entries(trustProviders).find(([, info]) => info.issuer === issuer.replace(/\/$/, ''))?.[0];
  if (own !== undefined && own !== provider) throw invalidField('/provider', `must be "${own}" for this issuer`);
  return issuer;
}

/** Whether a host name is one of the loopback interface. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

/** @throws DomainError `invalid_field` */
function requireClaims(provider: TrustProvider, claims: TrustRuleClaims): void {
  const reserved = Object.keys(claims).find((name) => reservedClaims.has(name));
  if (reserved !== undefined)
    throw invalidField(`/claims/${reserved}`, 'is checked in any case, and cannot be part of a rule');
  if (pinsProject(provider, claims)) return;
  const pins =
    provider === 'generic'
      ? '"sub", without "*" in its first two parts'
      : '"repository", "repository_id", "project_path", "project_id", or a "sub" that begins with the repository';
  throw invalidField('/claims', `must pin a repository or project: ${pins}`);
}

/** Checks that the user holds a guest for what a rule allows. @throws DomainError `invalid_field` */
async function requireTarget(
  tx: Queries,
  userId: UserId,
  { plugin, guestId }: Pick<TrustRuleInput, 'plugin' | 'guestId'>,
): Promise<RuleTarget> {
  if ((plugin === undefined) === (guestId === undefined)) {
    throw invalidField('/plugin', 'either "plugin" or "guestId" is required, and not both');
  }
  if (plugin !== undefined) {
    const { extensionPointId, name } = plugin;
    const point = isId('extensionPoint', extensionPointId) ? await tx.extensionPoint(extensionPointId) : undefined;
    const held = point && (await tx.guestsHeldBy(userId, point.appId, { limit: 1 }));
    if (point === undefined || held?.length !== 1) {
      throw invalidField('/plugin/extensionPointId', 'there is no such extension point, or you hold no guest there');
    }
    return { appId: point.appId, extensionPointId: point.id, pluginName: name, guestId: null };
  }
  const guest = guestId !== undefined && isId('guest', guestId) ? await tx.guest(guestId) : undefined;
  const held = guest && (await tx.guestsHeldBy(userId, guest.appId, { guestId: guest.id, limit: 1 }));
  if (guest === undefined || held?.length !== 1) throw invalidField('/guestId', 'you do not hold such a guest');
  return { appId: guest.appId, extensionPointId: null, pluginName: null, guestId: guest.id };
}

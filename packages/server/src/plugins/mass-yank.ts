import { type AppId, isId, pluginId, type SessionId, type TokenId, type UserId } from '@tenon/protocol';
import { type AppAction, type AppEntry, record, recordAll, sessionTarget } from '../audit/record.ts';
import { type Actor, type AppAccess, renewAccess, requireActiveToken } from '../auth/access.ts';
import { requireStepUp } from '../auth/confirmation.ts';
import type { PageOf } from '../db/paging.ts';
import { readPageById } from '../db/paging.ts';
import type { PluginKey, PluginRole } from '../db/records.ts';
import type { Page, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, invalidField } from '../http/domain-errors.ts';
import { queueNotice } from '../mail/notices.ts';
import { writeAndRollBack } from './dry-run.ts';
import { offeredStates, type PublishedVersion, type PublishSelection } from './mass-yank-queries.ts';
import { pluginAuditEntry } from './plugin-changes.ts';
import { finishRebind, rebindAll, retryAfterPendingRebind } from './rebind.ts';
import { abortRollOuts } from './roll-outs/start.ts';

/*
 * The response to a stolen credential: list what it published, then yank all of it in one transaction and revoke the credential. Three
 * actors can do it: the team of an application for their application, a user for the own account, and the operator for the whole server.
 */

/** The maximum number of versions that one request yanks, because other writers wait for the transaction. */
export const maxYankedVersions = 5000;

/** The maximum number of versions that a result names. */
const maxNamedVersions = 1000;

/** The maximum number of owners of an application who get a notice. */
const maxNoticedOwners = 50;

/** Who yanks. It limits the selection, and decides who can restore the versions. */
export type MassYankActor =
  | { readonly kind: 'team'; readonly access: AppAccess }
  | { readonly kind: 'publisher'; readonly actor: Actor }
  | { readonly kind: 'operator' };

export interface PublishFilter extends Omit<PublishSelection, 'appId' | 'credentialId' | 'trustRuleId' | 'userId'> {
  readonly credentialId?: string | undefined;
  readonly trustRuleId?: string | undefined;
  readonly userId?: string | undefined;
}

export interface MassYank {
  readonly filter: PublishFilter;
  readonly reason: string;
  /** Stores nothing, and returns what the request would do. */
  readonly isDryRun?: boolean;
}

export interface MassYanked {
  /** The versions that were yanked or rejected, with their states before; at most {@link maxNamedVersions}. */
  readonly versions: readonly PublishedVersion[];
  readonly versionCount: number;
  readonly pluginCount: number;
  readonly appCount: number;
  /** The tokens and sessions that were revoked. */
  readonly revoked: readonly (TokenId | SessionId)[];
}

/**
 * Lists the versions that a credential, a rule of trusted publishing, or a publisher published since a time, the oldest first.
 *
 * @throws DomainError `invalid_field` without one of them, and for a malformed id
 */
export function listPublishedVersions(
  deps: Pick<Deps, 'store'>,
  actor: MassYankActor,
  filter: PublishFilter,
  page: Page,
): Promise<PageOf<PublishedVersion>> {
  const selection = selectionOf(actor, filter);
  return readPageById(page, (range) => deps.store.read.publishedVersions(selection, range));
}

/**
 * Yanks the selected versions that hosts have or may get automatically, and rejects those that are being tested, have failed, or await
 * approval. Revokes the selected credential, or the tokens of the selected rule. One transaction changes all versions; bindings beyond the
 * first 1,000 move in further transactions before this function returns. A repeated request finds nothing to do.
 *
 * As for a single yank, the team and the operator also withdraw copies of the same bytes, and only the team can restore the versions.
 *
 * @throws DomainError `invalid_field`, `limit_exceeded` for more than {@link maxYankedVersions} versions, `step_up_required`, and as
 *   `renewAccess()`
 */
export async function yankPublished(deps: Deps, actor: MassYankActor, yank: MassYank): Promise<MassYanked> {
  const selection = selectionOf(actor, yank.filter);
  const nowMs = deps.clock();
  const write = (tx: Transaction) => yankInTransaction(deps, tx, actor, selection, yank.reason, nowMs);
  if (yank.isDryRun) return (await writeAndRollBack(deps.store, write)).result;
  const { result, pending } = await retryAfterPendingRebind(deps, () => deps.store.write(write));
  for (const key of pending) await finishRebind(deps, key);
  return result;
}

function selectionOf(actor: MassYankActor, filter: PublishFilter): PublishSelection {
  const { credentialId, trustRuleId, userId, sinceMs } = filter;
  if (credentialId !== undefined && !isId('token', credentialId) && !isId('session', credentialId)) {
    throw invalidField('/credentialId', 'must be the id of a token or a session');
  }
  if (trustRuleId !== undefined && !isId('trustRule', trustRuleId)) {
    throw invalidField('/trustRuleId', 'must be the id of a rule of trusted publishing');
  }
  if (userId !== undefined && !isId('user', userId)) throw invalidField('/userId', 'must be the id of a user');
  if (credentialId === undefined && trustRuleId === undefined && userId === undefined && actor.kind !== 'publisher') {
    throw invalidField('', 'must have "credentialId", "trustRuleId" or "userId"');
  }
  const selection = { credentialId, trustRuleId, userId, sinceMs };
  if (actor.kind === 'operator') return selection;
  if (actor.kind === 'team') return { ...selection, appId: actor.access.app.id };
  return { ...selection, userId: actor.actor.userId };
}

async function yankInTransaction(
  deps: Deps,
  tx: Transaction,
  actor: MassYankActor,
  selection: PublishSelection,
  reason: string,
  nowMs: number,
): Promise<{ readonly result: MassYanked; readonly pending: readonly PluginKey[] }> {
  await authorize(deps, tx, actor);
  const versions = await findVersions(tx, actor, selection);
  const isOffered = ({ state }: PublishedVersion) => offeredStates.some((one) => one === state);
  const stateRole: PluginRole = actor.kind === 'publisher' ? 'publisher' : 'host';
  const decision = { stateReason: reason, stateAtMs: nowMs, stateRole };
  for (const [isYanked, some] of Map.groupBy(versions, isOffered)) {
    const ids = some.map(({ id }) => id);
    await tx.decideVersions(ids, { ...decision, state: isYanked ? 'yanked' : 'rejected' });
  }
  const auditActor = actorOf(actor);
  const entries = versions.map((version): AppEntry<AppAction> => {
    const details = { version: version.number, versionId: version.id, reason };
    return pluginAuditEntry(version.appId, version, isOffered(version) ? 'version.yank' : 'version.reject', {
      details,
    });
  });
  if (entries.length > 0) await recordAll(deps, tx, auditActor, entries);
  await abortRollOuts(deps, tx, auditActor, versions, reason);
  const plugins = new Map(
    versions.map((of): [string, PluginKey] => [pluginId(of.extensionPointId, of.userId, of.name), of]),
  );
  const keys = [...plugins.values()].map(({ extensionPointId, userId, name }) => ({ extensionPointId, userId, name }));
  const pending = await rebindAll(tx, keys, nowMs);
  const revoked = await revokeSelected(deps, tx, actor, selection);
  await queueNotices(deps, tx, actor, versions, reason);
  const appCount = new Set(versions.map(({ appId }) => appId)).size;
  const counts = { versionCount: versions.length, pluginCount: plugins.size, appCount };
  return { result: { versions: versions.slice(0, maxNamedVersions), ...counts, revoked }, pending };
}

async function authorize(deps: Deps, tx: Transaction, actor: MassYankActor): Promise<void> {
  if (actor.kind === 'operator') return;
  const user = actor.kind === 'team' ? actor.access.actor : actor.actor;
  if (actor.kind === 'team') await renewAccess(tx, actor.access, 'decideOnPlugins');
  else await requireActiveToken(tx, user);
  await requireStepUp(deps, user.sessionId, tx);
}

/** @throws DomainError `limit_exceeded` */
async function findVersions(
  tx: Transaction,
  actor: MassYankActor,
  selection: PublishSelection,
): Promise<readonly PublishedVersion[]> {
  const limit = maxYankedVersions + 1;
  const open = await tx.openVersions(selection, limit);
  const copies = actor.kind === 'publisher' || open.length >= limit ? [] : await tx.openCopies(open, limit);
  const found = [...new Map([...open, ...copies].map((version) => [version.id, version])).values()];
  if (found.length <= maxYankedVersions) return found;
  throw new DomainError(
    'limit_exceeded',
    `The request would yank more than ${maxYankedVersions.toLocaleString('en')} versions, the maximum. Start with a later time, and repeat it with an earlier one.`,
  );
}

function actorOf(actor: MassYankActor): Actor | 'operator' {
  if (actor.kind === 'operator') return 'operator';
  return actor.kind === 'team' ? actor.access.actor : actor.actor;
}

/**
 * Revokes the selected credential, or the tokens that the selected rule has issued. A team revokes a credential only if it has published
 * in their application, because otherwise a team could revoke the credentials of all users. The tokens of a rule for their application can
 * do nothing elsewhere, and are revoked before they publish.
 */
async function revokeSelected(
  deps: Deps,
  tx: Transaction,
  actor: MassYankActor,
  { credentialId, trustRuleId, userId }: PublishSelection,
): Promise<(TokenId | SessionId)[]> {
  const revoked: (TokenId | SessionId)[] = [];
  const isOfSelection = async (id: TokenId | SessionId, owner: UserId, appOfRule?: AppId | null): Promise<boolean> => {
    if (userId !== undefined && owner !== userId) return false;
    return actor.kind !== 'team' || appOfRule === actor.access.app.id || tx.hasPublished(actor.access.app.id, id);
  };
  if (credentialId !== undefined && isId('session', credentialId)) {
    const session = await tx.session(credentialId);
    if (session !== undefined && (await isOfSelection(session.id, session.userId))) {
      await recordRevocation(deps, tx, actor, 'session.end', session.userId, sessionTarget(session));
      await tx.deleteSession(session.id);
      revoked.push(session.id);
    }
  }
  const token = credentialId !== undefined && isId('token', credentialId) ? await tx.token(credentialId) : undefined;
  const tokens = [
    ...(token === undefined ? [] : [token]),
    ...(trustRuleId === undefined ? [] : await tx.tokensOfTrustRule(trustRuleId)),
  ];
  for (const { id, name, userId: owner, appId, trustRuleId: ruleId } of tokens) {
    if (!(await isOfSelection(id, owner, ruleId === null ? null : appId))) continue;
    await recordRevocation(deps, tx, actor, 'token.revoke', owner, { id, name });
    await tx.deleteToken(id);
    revoked.push(id);
  }
  return revoked;
}

/** Records it in the owner's trail, without the name of another user, and in the trail of the actor. */
async function recordRevocation(
  deps: Deps,
  tx: Transaction,
  actor: MassYankActor,
  action: 'session.end' | 'token.revoke',
  accountId: UserId,
  target: { readonly id: string; readonly name: string | null },
): Promise<void> {
  const details = { cause: 'mass_yank' };
  const acting = actorOf(actor);
  if (acting === 'operator' || acting.userId === accountId) {
    await record(deps, tx, acting, { action, accountId, target, details });
    return;
  }
  await record(deps, tx, acting, { action, target, details });
  await record(deps, tx, 'system', { action, accountId, target, details });
}

/** Queues one mail for each publisher and owner of each application, except the actor. */
async function queueNotices(
  deps: Deps,
  tx: Transaction,
  actor: MassYankActor,
  versions: readonly PublishedVersion[],
  reason: string,
): Promise<void> {
  if (deps.settings.smtp === undefined) return;
  const acting = actorOf(actor);
  const by = actor.kind;
  const notify = async (userId: UserId, appId: AppId, of: readonly PublishedVersion[], to: 'publisher' | 'owner') => {
    if (acting !== 'operator' && acting.userId === userId) return;
    const facts = {
      what: 'yanked',
      of: 'versions',
      count: String(of.length),
      by,
      to,
      reason,
      app: of[0]?.appName ?? '',
    };
    await queueNotice(deps, tx, userId, 'withdrawals', { appId, facts });
  };
  for (const [appId, ofApp] of Map.groupBy(versions, (version) => version.appId)) {
    for (const [userId, ofUser] of Map.groupBy(ofApp, (version) => version.userId)) {
      await notify(userId, appId, ofUser, 'publisher');
    }
    const members = await tx.members(appId, { limit: maxNoticedOwners, sort: 'role' }, undefined);
    for (const { userId, role } of members) if (role === 'owner') await notify(userId, appId, ofApp, 'owner');
  }
}

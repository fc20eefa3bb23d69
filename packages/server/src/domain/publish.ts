import { hash } from 'node:crypto';
import {
  type ContentAddress,
  isPluginName,
  isSemver,
  maxReasonLength,
  maxSemverLength,
  newId,
  pluginNamePattern,
  type VersionState,
} from '@tenon/protocol';
import { type Actor, type ExtensionPointAccess, requireActiveToken } from './access.ts';
import { record } from './audit/record.ts';
import type { Context } from './context.ts';
import { DomainError, invalidField, notFound } from './errors.ts';
import { writeWithBlob } from './housekeeping/with-blob.ts';
import { isSameRequirements, requireFit } from './module-requirements.ts';
import { maxAuditedGuests, pluginAuditEntry } from './plugin-changes.ts';
import { type PluginWithBindings, readPluginWithBindings } from './plugins.ts';
import type { ModuleRequirements, Transaction } from './ports.ts';
import {
  addVersionToGuests,
  guestsOfVersion,
  isUnchanged,
  readHeldGuests,
  requireNameAvailable,
} from './publish-guests.ts';
import { chargeStoredBytes, requirePublishQuota } from './quotas.ts';
import { finishRebind, rebind, requireNoPendingRebind, retryAfterPendingRebind } from './rebind.ts';
import type { PluginKey, PluginRecord, VersionRecord } from './records.ts';
import { withdrawalRule } from './withdrawals.ts';

/** A publish as it was asked for: `PUT …/artifacts/<extension point>/plugin/<userId>/<name>`, with `guest=` when it is sent. */
export interface PublishTarget {
  readonly userId: string;
  readonly name: string;
  readonly guestId?: string | undefined;
}

/** What is published: the module, and what its publisher calls it and says of it. */
export interface Release {
  readonly bytes: Uint8Array;
  readonly semver?: string | undefined;
  readonly note?: string | undefined;
}

/** What a publish came to: the plugin's first version, a further one, or none that is new. */
export interface Published extends PluginWithBindings {
  readonly made: 'plugin' | 'version' | 'nothing';
}

/** The unpadded base64url SHA-256 of the bytes. */
export function contentAddressOf(bytes: Uint8Array): ContentAddress {
  return hash('sha256', bytes, 'base64url') as ContentAddress;
}

/**
 * What can be said against a publish before its body is read: who publishes, under what name, under which guests.
 *
 * @throws DomainError `forbidden` for another user's plugin, `not_a_guest` for a guest that the actor doesn't hold,
 *   `invalid_request` for a name that can't be one
 */
export function authorizePublish(actor: Actor, access: ExtensionPointAccess, target: PublishTarget): void {
  if (target.userId !== actor.userId) {
    throw new DomainError('forbidden', `One publishes under one's own user id, which is ${actor.userId}.`);
  }
  const { guests, hasMoreGuests } = access;
  if (target.guestId !== undefined && !hasMoreGuests && !guests.some(({ id }) => id === target.guestId)) {
    throw new DomainError('not_a_guest', 'You do not hold the guest named by "guest".');
  }
  if (!isPluginName(target.name)) {
    throw new DomainError('invalid_request', `The plugin name does not match ${pluginNamePattern}.`);
  }
}

/**
 * Publishes a plugin: checks the bytes, stores them, then in one transaction makes the version and moves the bindings under
 * all of the guests, or under none. A crash in between leaves bytes that nothing refers to, which the collector finds, never a
 * binding without bytes: {@link writeWithBlob}.
 * The bytes that are current already make no new version. The same work is done whether or not the bytes are known already,
 * so that the answer does not tell, and its timing no more than noise does: what remains is in `docs/explanation/security.md`.
 *
 * @throws DomainError `invalid_field` for a semantic version or a note that is none, a code for bytes that are no valid core
 *   module, `interface_mismatch` for a module that does not fit the extension point, `plugin_blocked`,
 *   `plugin_name_taken`, `limit_exceeded`, `quota_exceeded`, `rate_limited`,
 *   `conflict` for bytes that the host has yanked and for a semantic version that was used, `not_a_guest` or `not_found` when the guest or the extension point went away
 *   meanwhile, `invalid_token` when the token was revoked meanwhile
 */
export async function publish(
  context: Context,
  actor: Actor,
  access: ExtensionPointAccess,
  target: PublishTarget,
  release: Release,
  signal?: AbortSignal,
): Promise<Published> {
  authorizePublish(actor, access, target);
  requireValidLabels(release);
  const key: PluginKey = { extensionPointId: access.extensionPoint.id, userId: actor.userId, name: target.name };
  const present = await context.store.read.plugin(key);
  requireNotBlocked(present);
  const contentAddress = contentAddressOf(release.bytes);
  if (present?.newest.contentAddress !== contentAddress) {
    // Asked again in the transaction; here it spares the check, and the disk what the collector would have to delete.
    const { quotas } = context.limits;
    const size = release.bytes.length;
    await requirePublishQuota(context.store.read, quotas, key, access.app.id, present, size, context.clock());
  }
  const asker = { caller: actor.userId, signal };
  let demands: ModuleRequirements = access.extensionPoint;
  for (let round = 0; round < maxCheckAttempts; round++) {
    const { interfaceJson, mismatches } = await context.checker.check(release.bytes, demands, asker);
    requireFit(mismatches);
    const checked: CheckedRelease = { ...release, contentAddress, interfaceJson, demands };
    const outcome = await retryAfterPendingRebind(context, () =>
      storeVersion(context, actor, access, key, target.guestId, checked),
    );
    if ('made' in outcome) {
      const { made, answer } = outcome;
      if (answer !== undefined) return { ...answer, made };
      await finishRebind(context, key);
      return { ...(await readPluginWithBindings(context.store.read, key)), made };
    }
    demands = outcome;
  }
  throw new DomainError(
    'conflict',
    "The extension point's schema or limits changed again and again meanwhile. Try once more.",
  );
}

/** How often a module is checked anew since what is demanded of it has changed meanwhile. */
const maxCheckAttempts = 3;

/** What is published, once it is known to be right. */
interface CheckedRelease extends Release {
  readonly contentAddress: ContentAddress;
  readonly interfaceJson: string | null;
  readonly demands: ModuleRequirements;
}

/** What is stored; the answer is read later while bindings are still to follow. */
interface StoredPublish extends Pick<Published, 'made'> {
  readonly answer: PluginWithBindings | undefined;
}

/**
 * Stores the bytes, makes the version and moves the bindings.
 *
 * @returns what it came to; or, with nothing done, what is demanded of modules by now when that is something else
 */
function storeVersion(
  context: Context,
  actor: Actor,
  access: ExtensionPointAccess,
  key: PluginKey,
  guestId: string | undefined,
  checked: CheckedRelease,
): Promise<StoredPublish | ModuleRequirements> {
  const { contentAddress } = checked;
  const { quotas } = context.limits;
  const nowMs = context.clock();
  const payUnlessCurrent = async (tx: Transaction): Promise<void> => {
    if ((await tx.plugin(key))?.newest.contentAddress === contentAddress) return;
    await chargeStoredBytes(tx, quotas, key, checked.bytes.length, nowMs);
  };
  const store = async (tx: Transaction): Promise<StoredPublish | ModuleRequirements> => {
    await requireActiveToken(tx, actor);
    const extensionPoint = await tx.extensionPoint(key.extensionPointId);
    if (extensionPoint === undefined) throw notFound('extension point');
    if (!isSameRequirements(extensionPoint, checked.demands)) return extensionPoint;
    await requireNoPendingRebind(tx, key);
    const guests = await readHeldGuests(tx, actor.userId, access.app.id, guestId);
    const guestIds = guests.map(({ id }) => id);
    await requireNameAvailable(context, tx, key, guestIds);
    const present = await tx.plugin(key);
    requireNotBlocked(present);
    const withdrawal = await withdrawalRule(tx, key, contentAddress);
    const awaits = extensionPoint.requiresApproval || withdrawal.awaitsApproval;
    const state = awaits ? 'awaiting_approval' : 'published';
    const isCurrent =
      present?.newest.contentAddress === contentAddress && (await isUnchanged(tx, present, guestIds, state));
    if (!isCurrent) {
      withdrawal.requirePublishable();
      if (checked.semver !== undefined) await requireUnusedSemver(tx, key, checked.semver, nowMs);
    }
    const version = isCurrent ? present.newest : newVersion(key, present, checked, state, nowMs);
    if (!isCurrent) {
      const size = checked.bytes.length;
      const pluginAtMs = await requirePublishQuota(tx, quotas, key, access.app.id, present, size, nowMs);
      await tx.insertVersion(version, checked.interfaceJson);
      await tx.payPublish(key, { pluginAtMs });
    }
    const known = isCurrent ? await guestsOfVersion(tx, version.id, guestIds) : new Set();
    const added = guestIds.filter((id) => !known.has(id));
    if (added.length > 0) await addVersionToGuests(tx, key, added, version);
    const isPending = await rebind(tx, key, nowMs, { guestIds });
    if (added.length > 0) {
      const about = { details: auditDetails(version, !isCurrent), guests: guests.slice(0, maxAuditedGuests) };
      await record(context, tx, actor, pluginAuditEntry(access.app.id, key, 'plugin.publish', about));
    }
    const made = isCurrent ? 'nothing' : present === undefined ? 'plugin' : 'version';
    return { made, answer: isPending ? undefined : await readPluginWithBindings(tx, key) };
  };
  return writeWithBlob(context, contentAddress, checked.bytes, store, payUnlessCurrent);
}

/**
 * Demands that what a publisher calls a version, and says of it, can be kept.
 *
 * @throws DomainError `invalid_field`
 */
export function requireValidLabels({ semver, note }: Pick<Release, 'semver' | 'note'>): void {
  if (semver !== undefined && !isSemver(semver)) {
    throw invalidField(
      '/semver',
      `must be a semantic version such as 1.4.0 or 2.0.0-rc.1, of ${maxSemverLength} characters at the most (https://semver.org)`,
    );
  }
  if (note !== undefined && (note.trim() === '' || note.length > maxReasonLength)) {
    throw invalidField('/note', `must not be blank, and have ${maxReasonLength} characters at the most`);
  }
}

function requireNotBlocked(plugin: PluginRecord | undefined): void {
  if (plugin?.block == null) return;
  throw new DomainError(
    'plugin_blocked',
    `The application's team has blocked the plugin, and it takes no new version. Their reason: ${plugin.block.reason}`,
  );
}

/**
 * A semantic version names one content for good.
 *
 * @throws DomainError `conflict`
 */
async function requireUnusedSemver(tx: Transaction, key: PluginKey, semver: string, nowMs: number): Promise<void> {
  const use = await tx.labelUse(key, semver);
  if (use === undefined || (use.untilMs !== null && use.untilMs <= nowMs)) return;
  const by = use.number === null ? 'a version of the deleted plugin of this name' : `version ${use.number}`;
  throw new DomainError(
    'conflict',
    `"semver" must be new for each version of a plugin: ${by} is labelled ${semver}. Choose another one.`,
  );
}

/** What the audit trail tells of a publish, beside the guests. */
function auditDetails({ number, id, semver, state, contentAddress, size }: VersionRecord, isNew: boolean) {
  return { version: number, versionId: id, semver, state, contentAddress, size, isNew };
}

function newVersion(
  key: PluginKey,
  present: PluginRecord | undefined,
  { bytes, contentAddress, semver, note }: Release & { readonly contentAddress: ContentAddress },
  state: VersionState,
  nowMs: number,
): VersionRecord {
  // A plugin's `updatedAt` is its newest version's time, and doesn't go back when a clock does.
  const createdAtMs = Math.max(nowMs, present?.newest.createdAtMs ?? 0);
  return {
    ...key,
    id: newId('version'),
    number: (present?.newest.number ?? 0) + 1,
    contentAddress,
    size: bytes.length,
    semver: semver ?? null,
    note: note ?? null,
    createdAtMs,
    state,
    stateReason: null,
    stateAtMs: createdAtMs,
    stateSide: null,
  };
}

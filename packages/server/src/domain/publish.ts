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
import type { Actor, ExtensionPointAccess } from './access.ts';
import { record } from './audit/record.ts';
import type { Context } from './context.ts';
import { DomainError, invalidField, notFound } from './errors.ts';
import { writeWithBlob } from './housekeeping/with-blob.ts';
import { demandFit, isSameDemand } from './module-demands.ts';
import { auditOfPlugin } from './plugin-changes.ts';
import { type PluginWithBindings, withBindings } from './plugins.ts';
import type { Claim, ModuleDemands, Transaction } from './ports.ts';
import { rebind } from './rebind.ts';
import type { BindingRecord, GuestRecord, PluginKey, PluginRecord, VersionRecord } from './records.ts';

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
 * @returns the guests under which the plugin will be bound
 * @throws DomainError `forbidden` for another user's plugin, `not_a_guest` for a guest that the actor doesn't hold,
 *   `invalid_request` for a name that can't be one
 */
export function authorizePublish(
  actor: Actor,
  access: ExtensionPointAccess,
  target: PublishTarget,
): readonly GuestRecord[] {
  if (target.userId !== actor.userId) {
    throw new DomainError('forbidden', `One publishes under one's own user id, which is ${actor.userId}.`);
  }
  const guests =
    target.guestId === undefined ? access.guests : access.guests.filter((guest) => guest.id === target.guestId);
  if (guests.length === 0) throw new DomainError('not_a_guest', 'You do not hold the guest named by "guest".');
  if (!isPluginName(target.name)) {
    throw new DomainError('invalid_request', `The plugin name does not match ${pluginNamePattern}.`);
  }
  return guests;
}

/**
 * Publishes a plugin: checks the bytes, stores them, then in one transaction makes the version and moves the bindings under
 * all of the guests, or under none. A crash in between leaves bytes that nothing refers to, which the collector finds, never a
 * binding without bytes: {@link writeWithBlob}.
 * The bytes that are current already make no new version. The same work is done whether or not the bytes are known already,
 * so that neither the answer nor its timing tells.
 *
 * @throws DomainError `invalid_field` for a semantic version or a note that is none, a code for bytes that are no valid core
 *   module, `interface_mismatch` for a module that does not fit the extension point, `plugin_blocked`,
 *   `plugin_name_taken`, `limit_exceeded`,
 *   `conflict` for bytes that the host has yanked, `not_a_guest` or `not_found` when the guest or the extension point went away
 *   meanwhile
 */
export async function publish(
  context: Context,
  actor: Actor,
  access: ExtensionPointAccess,
  target: PublishTarget,
  release: Release,
  signal?: AbortSignal,
): Promise<Published> {
  const guests = authorizePublish(actor, access, target);
  demandFields(release);
  const key: PluginKey = { extensionPointId: access.extensionPoint.id, userId: actor.userId, name: target.name };
  demandNotBlocked(await context.store.read.plugin(key));
  const contentAddress = contentAddressOf(release.bytes);
  const asker = { caller: actor.userId, signal };
  let demands: ModuleDemands = access.extensionPoint;
  for (let round = 0; round < maxRounds; round++) {
    const { interfaceJson, mismatches } = await context.checker.check(release.bytes, demands, asker);
    demandFit(mismatches);
    const checked: Checked = { ...release, contentAddress, interfaceJson, demands };
    const outcome = await storeVersion(context, actor, access, key, guests, checked);
    if ('made' in outcome) return outcome;
    demands = outcome;
  }
  throw new DomainError(
    'conflict',
    "The extension point's schema or limits changed again and again meanwhile. Try once more.",
  );
}

/** How often a module is checked anew since what is demanded of it has changed meanwhile. */
const maxRounds = 3;

/** What is published, once it is known to be right. */
interface Checked extends Release {
  readonly contentAddress: ContentAddress;
  readonly interfaceJson: string | null;
  readonly demands: ModuleDemands;
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
  guests: readonly GuestRecord[],
  checked: Checked,
): Promise<Published | ModuleDemands> {
  const { contentAddress } = checked;
  const nowMs = context.clock();
  return writeWithBlob(context, contentAddress, checked.bytes, async (tx) => {
    const extensionPoint = await tx.extensionPoint(key.extensionPointId);
    if (extensionPoint === undefined) throw notFound('extension point');
    if (!isSameDemand(extensionPoint, checked.demands)) return extensionPoint;
    await demandGuests(context, tx, actor, access, key, guests);
    const present = await tx.plugin(key);
    demandNotBlocked(present);
    const claims = guests.map((guest) => ({ ...key, guestId: guest.id }));
    const state = extensionPoint.requiresApproval ? 'awaiting_approval' : 'published';
    const isCurrent =
      present?.newest.contentAddress === contentAddress && (await changesNothing(tx, present, claims, state));
    if (!isCurrent) await demandNotWithdrawn(tx, key, contentAddress);
    const version = isCurrent ? present.newest : newVersion(key, present, checked, state, nowMs);
    if (!isCurrent) await tx.insertVersion(version, checked.interfaceJson);
    const unclaimed = isCurrent ? await withoutClaimed(tx, version, claims) : claims;
    for (const claim of unclaimed) await claimName(tx, claim, version);
    await rebind(tx, key, nowMs);
    if (unclaimed.length > 0) {
      const details = toldOf(version, !isCurrent);
      await record(context, tx, actor, auditOfPlugin(access.app.id, key, 'plugin.publish', { details, guests }));
    }
    const made = isCurrent ? 'nothing' : present === undefined ? 'plugin' : 'version';
    return { ...(await withBindings(tx, key)), made };
  });
}

/**
 * Demands that what a publisher calls a version, and says of it, can be kept.
 *
 * @throws DomainError `invalid_field`
 */
export function demandFields({ semver, note }: Pick<Release, 'semver' | 'note'>): void {
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

function demandNotBlocked(plugin: PluginRecord | undefined): void {
  if (plugin?.block == null) return;
  throw new DomainError(
    'plugin_blocked',
    `The application's team has blocked the plugin, and it takes no new version. Their reason: ${plugin.block.reason}`,
  );
}

/** To publish what the host has yanked once more would be to restore it, which the host alone may; a build that runs again does so unasked. */
async function demandNotWithdrawn(tx: Transaction, key: PluginKey, contentAddress: ContentAddress): Promise<void> {
  const before = await tx.versionOfContent(key, contentAddress);
  if (before?.state !== 'yanked' || before.stateSide !== 'host') return;
  throw new DomainError(
    'conflict',
    `Version ${before.number} has the same bytes, and the application's team has yanked it: they alone can restore it. Their reason: ${before.stateReason}`,
  );
}

async function demandGuests(
  context: Context,
  tx: Transaction,
  actor: Actor,
  access: ExtensionPointAccess,
  key: PluginKey,
  guests: readonly GuestRecord[],
): Promise<void> {
  const held = await tx.guestsHeldBy(actor.userId, access.app.id);
  for (const guest of guests) {
    if (!held.some((other) => other.id === guest.id)) {
      throw new DomainError('not_a_guest', 'The guest was taken from you while you were publishing.');
    }
    await demandName(context, tx, key, guest);
  }
}

async function demandName(context: Context, tx: Transaction, key: PluginKey, guest: GuestRecord): Promise<void> {
  const holder = await tx.binding(key.extensionPointId, guest.id, key.name);
  if (holder !== undefined && holder.userId !== key.userId) {
    throw new DomainError(
      'plugin_name_taken',
      `Another user of the guest ${guest.id} publishes a plugin named "${key.name}" here. Choose another name.`,
    );
  }
  const { maxPluginsPerGuest } = context.limits;
  if (holder === undefined && (await tx.countBindings(key.extensionPointId, guest.id)) >= maxPluginsPerGuest) {
    throw new DomainError(
      'limit_exceeded',
      `The guest ${guest.id} has ${maxPluginsPerGuest} plugins at this extension point, which is the most there may be.`,
    );
  }
}

/**
 * Whether publishing the newest version's bytes once more would change nothing of it: it is published, and none of the guests
 * was rolled back to another one; or it waits for approval, and so would a further one.
 */
async function changesNothing(
  tx: Transaction,
  { newest }: PluginRecord,
  claims: readonly Claim[],
  stateOfNew: VersionState,
): Promise<boolean> {
  if (newest.state !== 'published') return newest.state === 'awaiting_approval' && stateOfNew === 'awaiting_approval';
  const present = await tx.bindingsOfPlugins([newest]);
  const isRolledBack = ({ guestId, selectedVersionId }: BindingRecord) =>
    selectedVersionId !== null && claims.some((claim) => claim.guestId === guestId);
  return !present.some(isRolledBack);
}

/** The claims under whose guests a version was not published before: to publish it under the others changes nothing. */
async function withoutClaimed(
  tx: Transaction,
  version: VersionRecord,
  claims: readonly Claim[],
): Promise<readonly Claim[]> {
  const known = new Set((await tx.guestsOfVersions([version.id])).map(({ guestId }) => guestId));
  return claims.filter(({ guestId }) => !known.has(guestId));
}

/** What the audit trail tells of a publish, beside the guests. */
function toldOf({ number, id, semver, state, contentAddress, size }: VersionRecord, isNew: boolean) {
  return { version: number, versionId: id, semver, state, contentAddress, size, isNew };
}

function newVersion(
  key: PluginKey,
  present: PluginRecord | undefined,
  { bytes, contentAddress, semver, note }: Release & { readonly contentAddress: ContentAddress },
  state: VersionState,
  nowMs: number,
): VersionRecord {
  return {
    ...key,
    id: newId('version'),
    number: (present?.newest.number ?? 0) + 1,
    contentAddress,
    size: bytes.length,
    semver: semver ?? null,
    note: note ?? null,
    createdAtMs: nowMs,
    state,
    stateReason: null,
    stateAtMs: nowMs,
    stateSide: null,
  };
}

/** Puts a version under a guest. Who publishes anew wants that to be bound, whatever was rolled back to before. */
async function claimName(tx: Transaction, claim: Claim, version: VersionRecord): Promise<void> {
  await tx.putVersionGuest(version.id, claim.guestId);
  const present = await tx.binding(claim.extensionPointId, claim.guestId, claim.name);
  if (present === undefined) await tx.putBinding({ ...claim, versionId: null, updatedAtMs: 0 });
  else if (present.selectedVersionId !== null && version.state === 'published') await tx.selectVersion(claim, null);
}

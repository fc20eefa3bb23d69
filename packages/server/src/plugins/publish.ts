import { hash } from 'node:crypto';
import { type AppId, type ContentAddress, isPluginName, pluginId, pluginNamePattern } from '@tenon/protocol';
import { type VerifiedAttachment, verifyAttachment } from '../attestations/attach.ts';
import { readOrigin, type VerifiedOrigin } from '../attestations/origin.ts';
import { insertPublishAttestation, meansOf } from '../attestations/publish-attestation.ts';
import { auditedProvenance, evidenceOf, requireProvenance } from '../attestations/require-provenance.ts';
import { record } from '../audit/record.ts';
import { type Actor, type ExtensionPointAccess, renewAccess, requireActiveToken } from '../auth/access.ts';
import { chargeSimulations, chargeStoredBytes, quotasOf, requirePublishQuota } from '../auth/quotas.ts';
import { guestWithinRestriction, requirePluginAllowed } from '../auth/token-restriction.ts';
import { leaseOf, writeWithBlob } from '../blobs/with-blob.ts';
import type { PluginKey, VersionRecord } from '../db/records.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound } from '../http/domain-errors.ts';
import { attachToPublished } from './attach-to-version.ts';
import { requirePublisherNotBlocked } from './blocked-publishers.ts';
import { writeAndRollBack } from './dry-run.ts';
import { isSameRequirements, type ModuleRequirements, requireFit } from './module-checker.ts';
import { type CheckedRelease, initialState, insertVersion, type PublishRequest, type Release } from './new-version.ts';
import { maxAuditedGuests, pluginAuditEntry } from './plugin-changes.ts';
import { type PluginWithBindings, readPluginWithBindings, requireNotBlocked } from './plugins.ts';
import {
  addVersionToGuests,
  endRollBacks,
  guestsOfVersion,
  isInRollOut,
  isUnchanged,
  readHeldGuests,
  requireNameAvailable,
} from './publish-guests.ts';
import { finishRebind, rebind, rebindBatch, requireNoPendingRebind, retryAfterPendingRebind } from './rebind.ts';
import { requireValidLabels } from './release-labels.ts';
import { startRollOut } from './roll-outs/start.ts';
import { findSimilarNames } from './similar-names.ts';
import { readImage, storeImage } from './version-image.ts';
import { withdrawalRule } from './withdrawals.ts';

/** The path and query of a publish: `PUT …/artifacts/<extension point>/plugin/<userId>/<name>?guest=<guestId>`. */
interface PublishTarget {
  readonly userId: string;
  readonly name: string;
  readonly guestId?: string | undefined;
}

/** The plugin after a publish. */
export interface Published extends PluginWithBindings {
  /** `nothing` when the bytes were already the current version. */
  readonly created: 'plugin' | 'version' | 'nothing';
}

export interface PublishOptions {
  readonly signal?: AbortSignal | undefined;
  /** Stores nothing, and returns what the publish would return. */
  readonly isDryRun?: boolean | undefined;
  /** Takes memory for the simulations of a dry run, or throws. */
  readonly reserve?: ((bytes: number) => void) | undefined;
}

/** The unpadded base64url SHA-256 of the bytes. */
export function contentAddressOf(bytes: Uint8Array): ContentAddress {
  return hash('sha256', bytes, 'base64url') as ContentAddress;
}

/**
 * Checks the path and query of a publish. Needs no body, so that a request can be rejected before its body is read.
 *
 * @throws DomainError `forbidden` for another user's plugin, and outside of the token's restriction; `not_a_guest` for a guest that the actor doesn't hold,
 *   `invalid_request` for an invalid plugin name
 */
export function authorizePublish(actor: Actor, access: ExtensionPointAccess, target: PublishTarget): void {
  authorizePublisher(actor, access, target);
  if (!isPluginName(target.name)) {
    throw new DomainError('invalid_request', `The plugin name does not match ${pluginNamePattern}.`);
  }
}

/** Makes the checks of {@link authorizePublish} that don't concern the name. @throws DomainError `forbidden`, `not_a_guest` */
export function authorizePublisher(
  actor: Actor,
  access: ExtensionPointAccess,
  target: Pick<PublishTarget, 'userId' | 'guestId'>,
): void {
  if (target.userId !== actor.userId) {
    throw new DomainError('forbidden', `You can publish only under your own user id, ${actor.userId}.`);
  }
  const { guests, hasMoreGuests } = access;
  const guestId = guestWithinRestriction(actor, target.guestId);
  if (guestId !== undefined && !hasMoreGuests && !guests.some(({ id }) => id === guestId)) {
    throw new DomainError('not_a_guest', 'You do not hold the guest named by "guest".');
  }
}

/**
 * Publishes a plugin. Checks the bytes and stores them. Then one transaction inserts the version and moves the bindings of all
 * guests, or changes nothing. A crash between the two leaves unreferenced bytes for the garbage collector, and never a binding
 * without bytes: {@link writeWithBlob}.
 *
 * Bytes that are already the current version create no new version. The work is the same whether or not the server already has
 * the bytes, so that neither the response nor its timing reveals other users' bytes. `docs/explanation/security.md` describes
 * the remaining timing noise.
 *
 * If the extension point has simulations, the transaction queues a test of the version, which moves the bindings when it has passed.
 * The publish waits for the result, but not for long.
 *
 * A dry run makes the same checks and tests, and rolls its only transaction back.
 *
 * @throws DomainError `invalid_field` for an invalid semantic version or note; a module error code for an invalid module;
 *   `interface_mismatch`, `provenance_required`, `plugin_blocked`, `publisher_blocked`, `plugin_name_taken`, `limit_exceeded`,
 *   `quota_exceeded`, `rate_limited`;
 *   `conflict` for bytes that the host yanked and for a used semantic version; `not_a_guest`, `not_found` or `invalid_token`
 *   when the guest, the extension point or the token was removed during the publish
 */
export async function publish(
  deps: Deps,
  actor: Actor,
  access: ExtensionPointAccess,
  target: PublishTarget,
  release: Release,
  { signal, isDryRun = false, reserve }: PublishOptions = {},
): Promise<Published> {
  authorizePublish(actor, access, target);
  requireValidLabels(release);
  const key: PluginKey = { extensionPointId: access.extensionPoint.id, userId: actor.userId, name: target.name };
  const guestId = guestWithinRestriction(actor, target.guestId);
  const request: PublishRequest = { actor, access, appId: access.app.id, key, guestId };
  const contentAddress = contentAddressOf(release.bytes);
  const imported = await readImport(deps, access, release, contentAddress);
  const image = release.image && (await readImage({ contentAddress, size: release.bytes.length }, release.image));
  await requirePublishable(deps, request, release, contentAddress);
  const attachments: VerifiedAttachment[] = imported === undefined ? [] : [imported.attachment];
  const jobOptions = { fairnessKey: actor.userId, signal };
  for (const document of release.attachments ?? []) {
    attachments.push(await verifyAttachment(deps, document, contentAddress, jobOptions));
  }
  await requireProvenanceEarly(deps, request, access, contentAddress, attachments);
  if (access.extensionPoint.simulationsRevision > 0) deps.simulator.warm(); // while the module is checked

  let requirements: ModuleRequirements = access.extensionPoint;
  for (let attempt = 0; attempt < maxCheckAttempts; attempt++) {
    const { interfaceJson, mismatches } = await deps.checker.check(release.bytes, requirements, jobOptions);
    requireFit(mismatches);
    const testOptions = { ...jobOptions, reserve };
    // The charge stays, although the dry run is rolled back.
    if (isDryRun && access.extensionPoint.simulationsRevision > 0) {
      await deps.store.write((tx) => chargeTests(deps, tx, request));
    }
    const tried = isDryRun ? await deps.tester.tryModule(release.bytes, key.extensionPointId, testOptions) : undefined;
    const checked: CheckedRelease = {
      ...release,
      attachments,
      contentAddress,
      interfaceJson,
      requirements,
      tried,
      origin: imported?.origin,
      image,
    };
    const outcome = isDryRun
      ? await tryRelease(deps, request, checked)
      : await retryAfterPendingRebind(deps, () => storeRelease(deps, request, checked));
    if ('created' in outcome) {
      const { created, plugin } = outcome;
      const isTesting = !isDryRun && plugin?.plugin.newest.state === 'testing';
      if (plugin !== undefined && !isTesting) return { ...plugin, created };
      if (isTesting) await deps.tester.settled(plugin.plugin.newest.id);
      else await finishRebind(deps, key);
      return { ...(await readPluginWithBindings(deps.store.read, key)), created };
    }
    requirements = outcome.changedRequirements;
  }
  throw new DomainError(
    'conflict',
    "The extension point's schema or limits changed repeatedly while the module was checked. Try again.",
  );
}

/** How often a module is checked when the extension point's requirements keep changing. */
const maxCheckAttempts = 3;

/** A stored release. `plugin` is `undefined` while further transactions have to move its bindings. */
interface StoredRelease extends Pick<Published, 'created'> {
  readonly plugin: PluginWithBindings | undefined;
}

/** Nothing was stored, because the extension point now requires something else. The module must be checked again. */
interface StaleCheck {
  readonly changedRequirements: ModuleRequirements;
}

/**
 * Rejects a publish before the costly module check and before the bytes are written to disk. The transaction repeats these
 * checks.
 */
async function requirePublishable(
  deps: Deps,
  { appId, key }: PublishRequest,
  { bytes }: Release,
  contentAddress: ContentAddress,
): Promise<void> {
  requirePublisherNotBlocked(await deps.store.read.publisherBlock(appId, key.userId));
  const plugin = await deps.store.read.plugin(key);
  requireNotBlocked(plugin);
  if (plugin?.newest.contentAddress === contentAddress) return;
  const limits = await quotasOf(deps, deps.store.read, [key.userId, appId]);
  await requirePublishQuota(deps.store.read, limits, key, appId, plugin, bytes.length, deps.clock());
}

/**
 * Reads where an imported release comes from; `undefined` for any other. Only the team may name an origin, because the server can't know the
 * keys of others.
 *
 * @throws DomainError `insufficient_scope`, `forbidden`; `invalid_field`
 */
async function readImport(
  { store }: Deps,
  access: ExtensionPointAccess,
  { origin }: Release,
  contentAddress: ContentAddress,
): Promise<VerifiedOrigin | undefined> {
  if (origin === undefined) return undefined;
  await renewAccess(store.read, access, 'decideOnPlugins');
  return readOrigin(origin, contentAddress);
}

/** Charges the publisher and the application for the simulations of a new version. @throws DomainError `rate_limited` */
async function chargeTests(deps: Deps, tx: Transaction, { appId, key }: PublishRequest): Promise<void> {
  const payers = { userId: key.userId, appId };
  await chargeSimulations(deps, tx, payers, await tx.countSimulations(key.extensionPointId));
}

/** Rejects a publish without the required provenance before the module is checked and stored. The transaction repeats the check. */
async function requireProvenanceEarly(
  { store }: Deps,
  { actor, key }: PublishRequest,
  { extensionPoint }: ExtensionPointAccess,
  contentAddress: ContentAddress,
  attachments: readonly VerifiedAttachment[],
): Promise<void> {
  if (extensionPoint.provenance.mode !== 'require') return;
  const token = await requireActiveToken(store.read, actor);
  const plugin = await store.read.plugin(key);
  const isCurrent = plugin?.newest.contentAddress === contentAddress;
  const stored = isCurrent ? await store.read.attestations(plugin.newest.id) : [];
  requireProvenance(extensionPoint.provenance, evidenceOf(attachments, token.claims, stored));
}

/** Stores the bytes, inserts the version and moves the bindings. */
function storeRelease(
  deps: Deps,
  request: PublishRequest,
  checked: CheckedRelease,
): Promise<StoredRelease | StaleCheck> {
  const { charge, store } = releaseSteps(deps, request, checked, deps.clock());
  return writeWithBlob(deps, checked.contentAddress, checked.bytes, store, charge);
}

/** Does in one transaction what {@link storeRelease} does, without the bytes, and rolls it back. */
function tryRelease(deps: Deps, request: PublishRequest, checked: CheckedRelease): Promise<StoredRelease | StaleCheck> {
  const nowMs = deps.clock();
  const { charge, store } = releaseSteps(deps, request, checked, nowMs);
  return writeAndRollBack(deps.store, async (tx) => {
    await charge(tx);
    await tx.leaseBlob(leaseOf(deps, checked.contentAddress, checked.bytes));
    const outcome = await store(tx);
    if ('changedRequirements' in outcome || outcome.plugin !== undefined) return outcome;
    await rebindBatch(tx, request.key, nowMs);
    return { ...outcome, plugin: await readPluginWithBindings(tx, request.key) };
  });
}

/** The parts of the transactions that store a release: `charge` runs before the bytes are stored. */
function releaseSteps(deps: Deps, request: PublishRequest, checked: CheckedRelease, nowMs: number) {
  const { actor, appId, key, guestId } = request;
  const { bytes, contentAddress } = checked;
  const charge = async (tx: Transaction): Promise<void> => {
    if ((await tx.plugin(key))?.newest.contentAddress === contentAddress) return;
    if (checked.isCharged !== true) await chargeStoredBytes(deps, tx, key.userId, bytes.length);
    if (checked.tried === undefined) await chargeTests(deps, tx, request);
  };
  const store = async (tx: Transaction): Promise<StoredRelease | StaleCheck> => {
    const token = await requireActiveToken(tx, actor);
    requirePluginAllowed(token, 'publish', key);
    guestWithinRestriction(token, guestId);
    if (checked.origin !== undefined) await renewAccess(tx, request.access, 'decideOnPlugins');
    const extensionPoint = await tx.extensionPoint(key.extensionPointId);
    if (extensionPoint === undefined) throw notFound('extension point');
    if (!isSameRequirements(extensionPoint, checked.requirements)) return { changedRequirements: extensionPoint };
    await requireNoPendingRebind(tx, key);
    const guests = await readHeldGuests(tx, actor.userId, appId, guestId);
    const guestIds = guests.map(({ id }) => id);
    requirePublisherNotBlocked(await tx.publisherBlock(appId, key.userId));
    await requireNameAvailable(deps, tx, key, guestIds);

    const present = await tx.plugin(key);
    requireNotBlocked(present);
    const withdrawal = await withdrawalRule(tx, key, contentAddress);
    const needsApproval = extensionPoint.requiresApproval || withdrawal.needsApproval;
    const isCurrent =
      present?.newest.contentAddress === contentAddress && (await isUnchanged(tx, present, guestIds, needsApproval));
    if (!isCurrent) withdrawal.requirePublishable();
    const stored = isCurrent ? await tx.attestations(present.newest.id) : [];
    const evidence = evidenceOf(checked.attachments, token.claims, stored);
    requireProvenance(extensionPoint.provenance, evidence);
    const version = isCurrent
      ? present.newest
      : await insertVersion(deps, tx, request, {
          present,
          checked,
          evidence,
          nowMs,
          minVersionAgeSeconds: extensionPoint.minVersionAgeSeconds,
          trustRuleId: token.trustRuleId,
          ...(await initialState(tx, extensionPoint, checked, needsApproval)),
        });

    await checked.withVersion?.(tx, version, !isCurrent);
    if (!isCurrent && checked.image !== undefined) await storeImage(deps, tx, appId, version, checked.image);
    if (!isCurrent) await insertPublishAttestation(deps, tx, appId, version, meansOf(token), checked.origin);
    await attachToPublished(deps, tx, request, version, checked, { isNew: !isCurrent, nowMs });

    const known = isCurrent ? await guestsOfVersion(tx, version.id, guestIds) : new Set();
    const added = guestIds.filter((id) => !known.has(id));
    const isOffered = version.state === 'published';
    if (added.length > 0) await addVersionToGuests(tx, key, added, version);
    // The publisher's own trail must not show rings.
    const release = { actor: 'system', appId, version, plan: extensionPoint.rollOut } as const;
    const isStaged =
      isOffered &&
      (isCurrent ? added.length > 0 && (await isInRollOut(tx, version)) : await startRollOut(deps, tx, release));
    if (isOffered && added.length > 0 && !isStaged) await endRollBacks(tx, key, added);
    if (present === undefined) await storeSimilarNames(deps, tx, appId, key);
    const isPending = await rebind(tx, key, nowMs, { guestIds });
    if (added.length > 0) {
      const details = {
        ...auditDetails(version, !isCurrent),
        ...(checked.origin !== undefined && { import: checked.origin }),
        ...auditedProvenance(extensionPoint.provenance, evidence),
      };
      const rest = { details, guests: guests.slice(0, maxAuditedGuests) };
      await record(deps, tx, actor, pluginAuditEntry(appId, key, 'plugin.publish', rest));
    }
    const created = isCurrent ? 'nothing' : present === undefined ? 'plugin' : 'version';
    return { created, plugin: isPending ? undefined : await readPluginWithBindings(tx, key) };
  };
  return { charge, store };
}

function auditDetails({ number, id, semver, state, contentAddress, size }: VersionRecord, isNew: boolean) {
  return { version: number, versionId: id, semver, state, contentAddress, size, isNew };
}

/**
 * Stores which plugins of other publishers have a similar name, for the application's team. Only the team learns of them, because a guest
 * must not see other guests' plugins. So the audit event has no account in whose trail it is.
 */
async function storeSimilarNames(deps: Deps, tx: Transaction, appId: AppId, key: PluginKey): Promise<void> {
  const { extensionPointId, userId, name } = key;
  const others = findSimilarNames(name, await tx.pluginsOfOthers(extensionPointId, userId));
  if (others.length === 0) return;
  await tx.putSimilarNames(key, others);
  const similar = others.map((other) => pluginId(extensionPointId, other.userId, other.name));
  await record(deps, tx, 'system', pluginAuditEntry(appId, key, 'plugin.find_similar', { details: { similar } }));
}

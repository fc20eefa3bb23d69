import { type ContentAddress, newId, type VersionState } from '@tenon/protocol';
import type { VerifiedAttachment } from '../attestations/attach.ts';
import type { AttachedDocument } from '../attestations/check-document.ts';
import type { Origin } from '../attestations/publish-attestation.ts';
import { type ProvenanceEvidence, stateOfEvidence } from '../attestations/require-provenance.ts';
import type { Actor, ExtensionPointAccess } from '../auth/access.ts';
import { warnOfQuota } from '../auth/quota-warnings.ts';
import { quotasOf, requirePublishQuota } from '../auth/quotas.ts';
import { quotaLimit } from '../config/quotas.ts';
import type { PushedImage } from '../db/oci-records.ts';
import type { ExtensionPointRecord, PluginKey, PluginRecord, TokenRecord, VersionRecord } from '../db/records.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { queueApprovalNotices } from '../mail/notices.ts';
import type { ModuleRequirements } from './module-checker.ts';
import { type ReleaseLabels, requireUnusedSemver } from './release-labels.ts';
import type { ImageDocuments } from './version-image.ts';
import { isReleasing, queueTest, type TestResult } from './version-tester.ts';

/** A module to publish, with the publisher's optional semantic version and note. */
export interface Release extends ReleaseLabels {
  readonly bytes: Uint8Array;
  /** The documents to attach. Default: none. */
  readonly attachments?: readonly AttachedDocument[];
  /** Of an imported version: the publish attestation of the server that it comes from, with its key. */
  readonly origin?: Uint8Array | undefined;
  /** The image of an imported version. Default: the computed one. */
  readonly image?: ImageDocuments | undefined;
  /** Whether the account was charged for the bytes when it uploaded them. Default: `false`. */
  readonly isCharged?: boolean;
  /**
   * Runs in the transaction with the version: a new one, or the newest one if that has the bytes already. To throw refuses the publish.
   */
  readonly withVersion?: (tx: Transaction, version: VersionRecord, isNew: boolean) => Promise<void>;
}

/** An authorized publish. */
export interface PublishRequest {
  readonly actor: Actor;
  readonly access: ExtensionPointAccess;
  readonly appId: ExtensionPointAccess['app']['id'];
  readonly key: PluginKey;
  /** Publishes under this guest only. Default: all guests that the actor holds. */
  readonly guestId: string | undefined;
}

/** A release that passed the module check. */
export interface CheckedRelease extends Omit<Release, 'attachments' | 'origin' | 'image'> {
  readonly attachments: readonly VerifiedAttachment[];
  readonly contentAddress: ContentAddress;
  readonly interfaceJson: string | null;
  /** The requirements that the module was checked against. */
  readonly requirements: ModuleRequirements;
  /** In a dry run, the result of the simulations. */
  readonly tried: TestResult | undefined;
  readonly origin: Origin | undefined;
  readonly image: PushedImage | undefined;
}

/** The state of a version before users decide on it. */
type InitialState = Pick<VersionRecord, 'state' | 'stateReason' | 'verdict'>;

/** The state of a new version. It costs a query only where the extension point has had simulations. */
export async function initialState(
  tx: Transaction,
  { id, simulationsRevision, minVersionAgeSeconds }: ExtensionPointRecord,
  { tried }: CheckedRelease,
  needsApproval: boolean,
): Promise<InitialState> {
  const untested = minVersionAgeSeconds > 0 ? 'cooling_down' : 'published';
  const state = needsApproval ? 'awaiting_approval' : untested;
  if (tried !== undefined) return triedState(tried, state);
  const isTested = simulationsRevision > 0 && (await tx.hasSimulations(id));
  return isTested
    ? { state: 'testing', stateReason: null, verdict: null }
    : { state, stateReason: null, verdict: 'none_configured' };
}

/** The state that a publish would end with, after a dry run has tested the module. */
function triedState({ verdict, detail }: TestResult, stateOfPassed: VersionState): InitialState {
  if (verdict === 'errored') return { state: 'testing', stateReason: null, verdict };
  if (isReleasing(verdict)) return { state: stateOfPassed, stateReason: null, verdict };
  return { state: 'failed', stateReason: detail, verdict };
}

/** What a publish knows of a new version. */
export interface NewVersion extends InitialState {
  /** The plugin before the publish; `undefined` for a new one. */
  readonly present: PluginRecord | undefined;
  readonly checked: CheckedRelease;
  readonly evidence: ProvenanceEvidence;
  readonly nowMs: number;
  readonly minVersionAgeSeconds: number;
  readonly trustRuleId: TokenRecord['trustRuleId'];
}

/** Inserts a version in its initial state, within the quotas. */
export async function insertVersion(
  deps: Deps,
  tx: Transaction,
  { actor, appId, key }: PublishRequest,
  { present, checked, evidence, nowMs, minVersionAgeSeconds, trustRuleId, ...initial }: NewVersion,
): Promise<VersionRecord> {
  const { bytes, contentAddress, semver = null, note = null, interfaceJson } = checked;
  if (semver !== null) await requireUnusedSemver(tx, key, semver, nowMs);
  // A plugin's `updatedAt` is its newest version's time. It must not go back when the clock does.
  const createdAtMs = Math.max(nowMs, present?.newest.createdAtMs ?? 0);
  const version: VersionRecord = {
    ...key,
    id: newId('version'),
    number: (present?.newest.number ?? 0) + 1,
    contentAddress,
    size: bytes.length,
    semver,
    note,
    createdAtMs,
    ...initial,
    stateAtMs: createdAtMs,
    stateRole: null,
    releaseAtMs: minVersionAgeSeconds > 0 ? createdAtMs + minVersionAgeSeconds * 1000 : null,
    provenance: stateOfEvidence(evidence),
    manifestDigest: null,
  };
  const limits = await quotasOf(deps, tx, [key.userId, appId]);
  const pluginChargedUntilMs = await requirePublishQuota(
    tx,
    limits,
    key,
    appId,
    present,
    bytes.length,
    nowMs,
    (name, id, used, added) =>
      warnOfQuota(deps, tx, name, id, { limit: quotaLimit(limits, name, id), before: used, after: used + added }),
  );
  await tx.insertVersion(version, interfaceJson, { credentialId: actor.sessionId ?? actor.tokenId, trustRuleId });
  await tx.putPluginCharge(key, pluginChargedUntilMs);
  if (version.state === 'testing') await queueTest(tx, version, nowMs);
  if (version.state === 'awaiting_approval') await queueApprovalNotices(deps, tx, appId);
  return version;
}

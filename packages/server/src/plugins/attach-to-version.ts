import { addAttestations, verifyAttachment } from '../attestations/attach.ts';
import { readAttestations } from '../attestations/read-attestations.ts';
import { record } from '../audit/record.ts';
import type { ExtensionPointAccess } from '../auth/access.ts';
import type { AttestationRecord, AttestationWithBundle } from '../db/attestation-records.ts';
import type { VersionRecord } from '../db/records.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound } from '../http/domain-errors.ts';
import { requirePublisherNotBlocked } from './blocked-publishers.ts';
import type { CheckedRelease, PublishRequest } from './new-version.ts';
import { changePlugin, pluginAuditEntry } from './plugin-changes.ts';
import { findPlugin, findVersion, type PluginTarget } from './plugins.ts';

/** Attaches the documents of a publish. The event of the publish covers those of a new version. */
export async function attachToPublished(
  deps: Deps,
  tx: Transaction,
  { actor, appId, key }: PublishRequest,
  version: VersionRecord,
  { attachments }: CheckedRelease,
  { isNew, nowMs }: { readonly isNew: boolean; readonly nowMs: number },
): Promise<void> {
  if (attachments.length === 0) return;
  const attached = await addAttestations(deps, tx, { appId, userId: actor.userId, nowMs }, version, attachments);
  if (isNew) return;
  for (const one of attached) {
    await record(
      deps,
      tx,
      actor,
      pluginAuditEntry(appId, key, 'version.attach', { details: auditDetails(version, one) }),
    );
  }
}

function auditDetails(version: VersionRecord, { id, kind, state, signer, size }: AttestationRecord) {
  return { version: version.number, versionId: version.id, attestationId: id, kind, state, signer, size };
}

/**
 * Verifies a document and attaches it to a version. Only for the plugin's publisher.
 *
 * @throws DomainError `not_found`, `forbidden`, `invalid_field`, `plugin_blocked`, `publisher_blocked`, `limit_exceeded`, `quota_exceeded`, `rate_limited`
 */
export async function attachToVersion(
  deps: Deps,
  access: ExtensionPointAccess,
  target: PluginTarget,
  number: string,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<{ readonly attached: AttestationWithBundle; readonly version: VersionRecord }> {
  const { actor, app } = access;
  const { read } = deps.store;
  const version = await findVersion(read, await findPlugin(read, actor, access, target), number);
  requirePublisher(version.userId === actor.userId);
  const jobOptions = { fairnessKey: actor.userId, signal };
  const verified = await verifyAttachment(deps, { bytes, pointer: '' }, version.contentAddress, jobOptions);
  const id = await changePlugin(
    deps,
    access,
    target,
    async ({ tx, plugin, roles, nowMs, recordAudit }) => {
      requirePublisher(roles.includes('publisher'));
      if (plugin.block !== null) throw new DomainError('plugin_blocked', 'The team has blocked the plugin.');
      requirePublisherNotBlocked(plugin.publisherBlock);
      const present = await findVersion(tx, plugin, number);
      if (present.id !== version.id) throw notFound('version');
      const by = { appId: app.id, userId: actor.userId, nowMs };
      const [attestation] = await addAttestations(deps, tx, by, present, [verified]);
      if (attestation === undefined) return undefined;
      await recordAudit('version.attach', { details: auditDetails(present, attestation) });
      return undefined;
    },
    async (found) => (await found.attestations(version.id)).findLast(({ digest }) => digest === verified.digest)?.id,
  );
  const attached = (await readAttestations(deps, version)).find((one) => one.id === id);
  if (attached === undefined) throw notFound('version');
  return { attached, version };
}

function requirePublisher(isPublisher: boolean): void {
  if (!isPublisher) throw new DomainError('forbidden', "Only the plugin's publisher can attach attestations.");
}

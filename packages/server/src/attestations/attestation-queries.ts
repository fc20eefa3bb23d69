import type { AttestationId, AttestationKind, ProvenanceState, VersionId } from '@tenon/protocol';
import { type CacheTag, pluginDocumentsTag } from '../cache/cache-tag.ts';
import type {
  AttestationRecord,
  AttestationWithBundle,
  SigningKeyRecord,
  StoredSigningKey,
} from '../db/attestation-records.ts';
import { type Db, isOfPlugin } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import { inChunks, paged } from '../db/page-queries.ts';
import type { Page } from '../db/query-types.ts';
import { columns, type PluginKey } from '../db/records.ts';

/** The maximum number of keys that one query reads. */
const maxKeys = 200;

export const attestationQueries = {
  /** Returns the server's keys, the newest first, without their private parts. */
  signingKeys: (db: Db): Promise<SigningKeyRecord[]> =>
    db
      .selectFrom('signing_keys')
      .select(columns.signingKeys)
      .orderBy('validFromMs', 'desc')
      .orderBy('id')
      .limit(maxKeys)
      .execute(),

  signingKey: (db: Db, id: string): Promise<SigningKeyRecord | undefined> =>
    db.selectFrom('signing_keys').select(columns.signingKeys).where('id', '=', id).executeTakeFirst(),

  /** Returns the keys with a private part in the store that are not revoked, the newest first. */
  usableSigningKeys: (db: Db): Promise<StoredSigningKey[]> =>
    db
      .selectFrom('signing_keys')
      .select([...columns.signingKeys, 'privateKeyPem'])
      .where('privateKeyPem', 'is not', null)
      .where('revokedAtMs', 'is', null)
      .orderBy('validFromMs', 'desc')
      .orderBy('id')
      .limit(maxKeys)
      .$castTo<StoredSigningKey>()
      .execute(),

  /** Returns a version's attestations, the oldest first, without their bundles. */
  attestations: (db: Db, versionId: VersionId): Promise<AttestationRecord[]> =>
    db
      .selectFrom('attestations')
      .select(columns.attestations)
      .where('versionId', '=', versionId)
      .orderBy('id')
      .execute(),

  /** As {@link attestationQueries.attestations}, of several versions. */
  attestationsOfVersions: (db: Db, versionIds: readonly VersionId[]): Promise<AttestationRecord[]> =>
    inChunks(versionIds, (chunk) =>
      db
        .selectFrom('attestations')
        .select(columns.attestations)
        .where('versionId', 'in', chunk)
        .orderBy('versionId')
        .orderBy('id')
        .execute(),
    ),

  /** Returns a version's attestations, the oldest first. */
  attestationsWithBundles(db: Db, versionId: VersionId, kind?: AttestationKind): Promise<AttestationWithBundle[]> {
    const all = db
      .selectFrom('attestations')
      .select([...columns.attestations, 'bundle'])
      .where('versionId', '=', versionId)
      .orderBy('id');
    return (kind === undefined ? all : all.where('kind', '=', kind)).execute();
  },

  /** Returns the bundle of an attestation. */
  async attestationBundle(db: Db, id: AttestationId): Promise<string | undefined> {
    const row = await db.selectFrom('attestations').select('bundle').where('id', '=', id).executeTakeFirst();
    return row?.bundle;
  },

  /** Returns the server's own attestations of all versions, by id, with what they must say. */
  publishAttestations: (db: Db, page: Page): Promise<PublishAttestation[]> =>
    paged(
      db
        .selectFrom('attestations')
        .innerJoin('versions', 'versions.id', 'attestations.versionId')
        .select(['attestations.id', 'attestations.bundle', 'attestations.versionId', 'versions.contentAddress'])
        .where('attestations.kind', '=', 'publish'),
      'attestations.id',
      page,
    ).execute(),
};

/** A publish attestation, with the content address of its version. */
type PublishAttestation = Pick<AttestationWithBundle, 'id' | 'bundle' | 'versionId'> & {
  readonly contentAddress: string;
};

/** Returns a query for the tag of the documents of a version's plugin. */
export function documentsOfVersion(id: VersionId): (db: Db) => Promise<readonly CacheTag[]> {
  return async (db) => {
    const key = ['extensionPointId', 'userId', 'name'] as const;
    const plugins = await db.selectFrom('versions').select(key).where('id', '=', id).execute();
    return plugins.map(pluginDocumentsTag);
  };
}

export const attestationMutations = {
  insertSigningKey: statement({ audit: true, invalidates: nothing }, (db: Db, key: StoredSigningKey) =>
    db.insertInto('signing_keys').values(key),
  ),

  /** Sets when the server stops signing with a key; `null` for no end. The event of the other key describes it. */
  endSigningKey: statement({ audit: false, invalidates: nothing }, (db: Db, id: string, validUntilMs: number | null) =>
    db.updateTable('signing_keys').set({ validUntilMs }).where('id', '=', id),
  ),

  /** Sets from when a key is valid. The event of the other key's revocation describes it. */
  startSigningKey: statement({ audit: false, invalidates: nothing }, (db: Db, id: string, validFromMs: number) =>
    db.updateTable('signing_keys').set({ validFromMs }).where('id', '=', id),
  ),

  revokeSigningKey: statement(
    { audit: true, invalidates: nothing, usesDiskReserve: true },
    (db: Db, id: string, atMs: number) =>
      // Nothing needs the private part again.
      db.updateTable('signing_keys').set({ revokedAtMs: atMs, privateKeyPem: null }).where('id', '=', id),
  ),

  insertAttestation: statement(
    { audit: true, invalidates: ({ versionId }) => documentsOfVersion(versionId) },
    (db: Db, attestation: AttestationWithBundle) => db.insertInto('attestations').values(attestation),
  ),

  /** Stores the result of a further verification. */
  updateAttestation: statement(
    { audit: true, invalidates: nothing },
    (db: Db, { id, state, detail, signer }: Pick<AttestationRecord, 'id' | 'state' | 'detail' | 'signer'>) =>
      db.updateTable('attestations').set({ state, detail, signer }).where('id', '=', id),
  ),

  /** Stores the state of a version's provenance, and adds the size of new attestations to the version and its plugin. */
  setProvenance: mutation(
    { audit: true, invalidates: nothing, changes: (changed, db, version) => changed.addPlugin(db, version) },
    async (
      db: Db,
      version: PluginKey & { readonly id: VersionId },
      provenance: ProvenanceState,
      addedBytes: number,
    ): Promise<void> => {
      await db
        .updateTable('versions')
        .set(({ eb }) => ({ provenance, attestationBytes: eb('attestationBytes', '+', addedBytes) }))
        .where('id', '=', version.id)
        .execute();
      if (addedBytes === 0) return;
      await db
        .updateTable('plugins')
        .set(({ eb }) => ({ bytes: eb('bytes', '+', addedBytes) }))
        .where(isOfPlugin('plugins', version))
        .execute();
    },
  ),
};

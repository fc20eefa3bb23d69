import type { ContentAddress, OciUploadId, UserId, VersionId } from '@tenon/protocol';
import { type Db, isOfPlugin } from '../db/db.ts';
import { mutation, nothing, statement } from '../db/mutation.ts';
import type { OciChunkRecord, OciImageRecord, OciUploadRecord, PushedImage } from '../db/oci-records.ts';
import { inChunks } from '../db/page-queries.ts';
import { columns, type PluginKey } from '../db/records.ts';

export const ociQueries = {
  ociUpload: (db: Db, id: OciUploadId): Promise<OciUploadRecord | undefined> =>
    db.selectFrom('oci_uploads').select(columns.ociUploads).where('id', '=', id).executeTakeFirst(),

  /** Returns a plugin's newest finished upload of a content. */
  finishedOciUpload: (
    db: Db,
    key: PluginKey,
    contentAddress: ContentAddress,
    nowMs: number,
  ): Promise<OciUploadRecord | undefined> =>
    db
      .selectFrom('oci_uploads')
      .select(columns.ociUploads)
      .where(isOfPlugin('oci_uploads', key))
      .where('contentAddress', '=', contentAddress)
      .where('expiresAtMs', '>', nowMs)
      .orderBy('id', 'desc')
      .executeTakeFirst(),

  /** Returns the number of a user's uploads that have not expired. */
  async countOciUploads(db: Db, userId: UserId, nowMs: number): Promise<number> {
    const { count } = await db
      .selectFrom('oci_uploads')
      .select(({ fn }) => fn.countAll<number | string>().as('count'))
      .where('userId', '=', userId)
      .where('expiresAtMs', '>', nowMs)
      .executeTakeFirstOrThrow();
    return Number(count);
  },

  /** Returns the chunks of an upload, in their order. */
  ociChunks: (db: Db, uploadId: OciUploadId): Promise<OciChunkRecord[]> =>
    db
      .selectFrom('oci_chunks')
      .select(columns.ociChunks)
      .where('uploadId', '=', uploadId)
      .orderBy('startByte')
      .execute(),

  ociImages: (db: Db, versionIds: readonly VersionId[]): Promise<OciImageRecord[]> =>
    inChunks(versionIds, (chunk) =>
      db.selectFrom('oci_images').select(columns.ociImages).where('versionId', 'in', chunk).execute(),
    ),
};

export const ociMutations = {
  insertOciUpload: statement({ audit: false, invalidates: nothing }, (db: Db, upload: OciUploadRecord) =>
    db.insertInto('oci_uploads').values(upload),
  ),

  /** Adds a chunk at the end of an unfinished upload. @returns `false` if the upload has another size, is finished, or is deleted */
  appendOciChunk: mutation(
    { audit: false, invalidates: nothing },
    async (db: Db, chunk: OciChunkRecord, expiresAtMs: number): Promise<boolean> => {
      const { uploadId, startByte, size } = chunk;
      const { numUpdatedRows } = await db
        .updateTable('oci_uploads')
        .set({ size: startByte + size, expiresAtMs })
        .where('id', '=', uploadId)
        .where('size', '=', startByte)
        .where('contentAddress', 'is', null)
        .executeTakeFirstOrThrow();
      if (numUpdatedRows === 0n) return false;
      await db.insertInto('oci_chunks').values(chunk).execute();
      return true;
    },
  ),

  /**
   * Finishes an upload: replaces its chunks by one with the whole content.
   *
   * @param previousSize the upload's size before
   * @returns `false` if the upload has another size, is finished, or is deleted
   */
  finishOciUpload: mutation(
    { audit: false, invalidates: nothing },
    async (
      db: Db,
      {
        id,
        size,
        contentAddress,
        expiresAtMs,
      }: Omit<OciUploadRecord, keyof PluginKey> & { contentAddress: ContentAddress },
      previousSize: number,
    ): Promise<boolean> => {
      const { numUpdatedRows } = await db
        .updateTable('oci_uploads')
        .set({ size, contentAddress, expiresAtMs })
        .where('id', '=', id)
        .where('size', '=', previousSize)
        .where('contentAddress', 'is', null)
        .executeTakeFirstOrThrow();
      if (numUpdatedRows === 0n) return false;
      await db.deleteFrom('oci_chunks').where('uploadId', '=', id).execute();
      await db.insertInto('oci_chunks').values({ uploadId: id, startByte: 0, size, contentAddress }).execute();
      return true;
    },
  ),

  deleteOciUpload: statement({ audit: false, invalidates: nothing, usesDiskReserve: true }, (db: Db, id: OciUploadId) =>
    db.deleteFrom('oci_uploads').where('id', '=', id),
  ),

  /** Deletes the finished uploads of contents of a plugin. */
  deleteFinishedOciUploads: statement(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    (db: Db, key: PluginKey, contents: readonly ContentAddress[]) =>
      db.deleteFrom('oci_uploads').where(isOfPlugin('oci_uploads', key)).where('contentAddress', 'in', contents),
  ),

  /** Deletes at most `limit` uploads that have expired. @returns their number */
  deleteExpiredOciUploads: mutation(
    { audit: false, invalidates: nothing, usesDiskReserve: true },
    async (db: Db, nowMs: number, limit: number): Promise<number> => {
      const expired = db.selectFrom('oci_uploads').select('id').where('expiresAtMs', '<=', nowMs).limit(limit);
      const { numDeletedRows } = await db
        .deleteFrom('oci_uploads')
        .where('id', 'in', expired)
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    },
  ),

  /** Stores the image with which a version was pushed. */
  insertOciImage: mutation({ audit: true, invalidates: nothing }, insertImage),

  /** Stores the image with which the source of a mirror has a version. */
  insertMirroredImage: mutation({ audit: false, invalidates: nothing }, insertImage),
};

async function insertImage(db: Db, versionId: VersionId, { manifestDigest, ...image }: PushedImage): Promise<void> {
  await db
    .insertInto('oci_images')
    .values({ versionId, ...image })
    .execute();
  await db.updateTable('versions').set({ manifestDigest }).where('id', '=', versionId).execute();
}

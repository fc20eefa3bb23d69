import type { AppId } from '@tenon/protocol';
import { takeQuota } from '../auth/quotas.ts';
import type { PushedImage } from '../db/oci-records.ts';
import type { VersionRecord } from '../db/records.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { invalidField } from '../http/domain-errors.ts';
import { InvalidImageError, readPushedImage } from './pushed-image.ts';

/** The documents of a version's image, as an OCI client pushed them to another server. */
export interface ImageDocuments {
  readonly manifest: Uint8Array;
  /** Not needed for the empty configuration. */
  readonly config?: Uint8Array | undefined;
}

/** Reads the image of a module. @returns `undefined` for the computed one @throws DomainError `invalid_field` */
export async function readImage(
  module: Pick<VersionRecord, 'contentAddress' | 'size'>,
  { manifest, config = new Uint8Array() }: ImageDocuments,
): Promise<PushedImage | undefined> {
  try {
    return await readPushedImage(module, manifest, () => Promise.resolve(config));
  } catch (error) {
    if (error instanceof InvalidImageError) throw invalidField('/manifest', `is refused: ${error.message}`);
    throw error;
  }
}

/** Stores the image of a new version. @throws DomainError `quota_exceeded` */
export async function storeImage(
  deps: Deps,
  tx: Transaction,
  appId: AppId,
  version: VersionRecord,
  image: PushedImage,
): Promise<void> {
  const { userId } = version;
  const addedBytes = Buffer.byteLength(image.manifest) + Buffer.byteLength(image.config);
  await takeQuota(deps, tx, 'account-bytes', userId, await tx.sumPublishedBytes(userId), addedBytes);
  await takeQuota(deps, tx, 'app-bytes', appId, (await tx.countPlugins(appId)).bytes, addedBytes);
  await tx.setProvenance(version, version.provenance, addedBytes);
  await tx.insertOciImage(version.id, image);
}

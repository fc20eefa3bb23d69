import {
  type OciDigest,
  type OciDocument,
  type OciImage,
  ociDigestOf,
  ociImageOf,
  ociMediaTypes,
} from '@tenon/protocol';
import type { OciImageRecord } from '../db/oci-records.ts';
import type { VersionRecord } from '../db/records.ts';
import type { Queries } from '../db/store.ts';
import { sha256Hex } from '../plugins/oci-version-names.ts';

/*
 * A version has one image, which never changes: the one that an OCI client pushed, byte for byte, or else the one that is computed from its
 * module.
 */

/** Returns the image of a version. */
export async function imageOf(read: Pick<Queries, 'ociImages'>, version: VersionRecord): Promise<OciImage> {
  const [image] = await imagesOf(read, [version]);
  return image ?? ociImageOf(version, sha256Hex);
}

/** Returns the images of versions, in their order. */
export async function imagesOf(
  read: Pick<Queries, 'ociImages'>,
  versions: readonly VersionRecord[],
): Promise<readonly OciImage[]> {
  const ids = versions.flatMap(({ id, manifestDigest }) => (manifestDigest === null ? [] : [id]));
  const pushed = new Map((await read.ociImages(ids)).map((image) => [image.versionId, image]));
  return versions.map((version) => {
    const image = pushed.get(version.id);
    return image === undefined ? ociImageOf(version, sha256Hex) : toImage(image, version);
  });
}

function toImage(
  { manifest, configDigest, configType, config }: OciImageRecord,
  { contentAddress, size }: VersionRecord,
): OciImage {
  return {
    manifest: toDocument(ociMediaTypes.manifest, `sha256:${sha256Hex(manifest)}`, manifest),
    config: toDocument(configType, configDigest, config),
    layer: { mediaType: ociMediaTypes.layer, digest: ociDigestOf(contentAddress), size },
  };
}

function toDocument(mediaType: string, digest: OciDigest, text: string): OciDocument {
  return { mediaType, digest, size: Buffer.byteLength(text), text };
}

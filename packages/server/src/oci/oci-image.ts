import {
  type OciDigest,
  type OciDocument,
  type OciImage,
  ociDigestOf,
  ociImageOf,
  ociMediaTypes,
} from '@tenon/protocol';
import type { OciImageRecord } from '../db/oci-records.ts';
import { readAllPages } from '../db/paging.ts';
import type { PluginKey, VersionRecord } from '../db/records.ts';
import type { Queries } from '../db/store.ts';
import { manifestDigestOf, sha256Hex } from '../plugins/oci-version-names.ts';

/*
 * A version has one image, which never changes: the one that an OCI client pushed, byte for byte, or else the one that is computed from the
 * version.
 */

/** How many versions one query reads. */
const batchSize = 200;

/** Returns the image of a version. */
export async function imageOf(read: Pick<Queries, 'ociImage'>, version: VersionRecord): Promise<OciImage> {
  const pushed = version.manifestDigest === null ? undefined : await read.ociImage(version.id);
  return pushed === undefined ? ociImageOf(version, sha256Hex) : toImage(pushed, version);
}

/** Finds a version of a plugin, in any state, by the digest of its manifest. */
export async function findVersionOfManifest(
  read: Queries,
  plugin: PluginKey,
  digest: OciDigest,
): Promise<VersionRecord | undefined> {
  for await (const version of versionsOf(read, plugin)) if (manifestDigestOf(version) === digest) return version;
  return undefined;
}

/** Finds the configuration of one of a plugin's images. */
export async function findConfig(
  read: Queries,
  plugin: PluginKey,
  digest: OciDigest,
): Promise<OciDocument | undefined> {
  const pushed = await read.ociImageOfConfig(plugin, digest);
  if (pushed !== undefined) return toDocument(pushed.configType, digest, pushed.config);
  for await (const version of versionsOf(read, plugin)) {
    if (version.manifestDigest !== null) continue;
    const { config } = ociImageOf(version, sha256Hex);
    if (config.digest === digest) return config;
  }
  return undefined;
}

/** Returns all versions, the newest first. */
export async function* versionsOf(read: Queries, plugin: PluginKey): AsyncGenerator<VersionRecord> {
  const cursorOf = ({ number }: VersionRecord): string => String(number);
  for await (const page of readAllPages(batchSize, cursorOf, (range) => read.versions(plugin, range))) yield* page;
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

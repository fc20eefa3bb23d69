import {
  type ContentAddress,
  contentAddressOfDigest,
  isId,
  isOciDigest,
  type OciDescriptor,
  type OciDigest,
  type OciDocument,
  ociEmptyConfig,
  ociEmptyText,
  ociMediaTypes,
  ociTagsOf,
  parseOciTag,
} from '@tenon/protocol';
import { type ExtensionPointAccess, isMember } from '../auth/access.ts';
import type { PluginRecord, VersionRecord } from '../db/records.ts';
import type { Queries } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { manifestDigestOf } from '../plugins/oci-version-names.ts';
import { findPlugin, type PluginTarget } from '../plugins/plugins.ts';
import { findVersionOfDocument } from './oci-documents.ts';
import { invalidDigest, unknownBlob, unknownManifest } from './oci-error.ts';
import { imageOf } from './oci-image.ts';
import { type Referrer, referrersOf } from './oci-referrers.ts';

/*
 * A plugin as an OCI repository. A tag names a published version. A digest names a version in any state, as a content address does:
 * clients that have it may still pull a version that was yanked.
 */

/** A plugin that the caller may see. */
export interface Repository {
  readonly access: ExtensionPointAccess;
  readonly plugin: PluginRecord;
}

const boundPrefix = 'bound-';

/** @throws DomainError `not_found` */
export async function findRepository(
  { store }: Pick<Deps, 'store'>,
  access: ExtensionPointAccess,
  target: PluginTarget,
): Promise<Repository> {
  return { access, plugin: await findPlugin(store.read, access.actor, access, target) };
}

/**
 * Finds a manifest: of a version, or of a document about a version.
 *
 * @param reference a tag or a digest
 * @throws DomainError `not_found`, `invalid_request` for a malformed digest
 */
export async function findManifest(deps: Deps, repository: Repository, reference: string): Promise<OciDocument> {
  if (!reference.includes(':')) {
    const version = await findTagged(deps.store.read, repository, reference);
    if (version === undefined) throw unknownManifest();
    return (await imageOf(deps.store.read, version)).manifest;
  }
  if (!isOciDigest(reference)) throw invalidDigest();
  const version = await findVersionOf(deps, repository, reference);
  if (version === undefined) throw unknownManifest();
  const { manifest } = await imageOf(deps.store.read, version);
  if (manifest.digest === reference) return manifest;
  const referrer = (await referrersOf(deps, [version])).find((one) => one.manifest.digest === reference);
  if (referrer === undefined) throw unknownManifest();
  return referrer.manifest;
}

/** A module, whose bytes are in the blob store, or a text. */
export type Blob = { readonly address: ContentAddress } | (OciDescriptor & { readonly text: string });

/** @throws DomainError `not_found`, `invalid_request` for a malformed digest */
export async function findBlob(deps: Deps, repository: Repository, digest: string): Promise<Blob> {
  const { read } = deps.store;
  const address = contentAddressOfDigest(digest);
  if (address === undefined || !isOciDigest(digest)) throw invalidDigest();
  if ((await read.versionOfContent(repository.plugin, address)) !== undefined) return { address };
  if (digest === ociEmptyConfig.digest) return { ...ociEmptyConfig, text: ociEmptyText };
  const version = await findVersionOf(deps, repository, digest);
  if (version === undefined) throw unknownBlob();
  const { config } = await imageOf(read, version);
  if (config.digest === digest) return config;
  const referrer = (await referrersOf(deps, [version])).find(({ document }) => document.digest === digest);
  const text = await referrer?.readText();
  if (referrer === undefined || text === undefined) throw unknownBlob();
  return { ...referrer.document, text };
}

/** The maximum number of versions with the same image whose documents a list has: the newest. */
const maxVersionsOfImage = 20;

/**
 * Returns the documents about the versions whose manifest has a digest. Versions with the same module can have the same manifest.
 *
 * @throws DomainError `invalid_request` for a malformed digest
 */
export async function listReferrers(
  deps: Deps,
  repository: Repository,
  digest: string,
  artifactType: string | undefined,
): Promise<readonly Referrer[]> {
  const { read } = deps.store;
  const { plugin } = repository;
  if (!isOciDigest(digest)) throw invalidDigest();
  const found = await findVersionOf(deps, repository, digest);
  const alike = found && (await read.versionsWithContent(plugin, found.contentAddress, maxVersionsOfImage));
  const versions = alike?.filter((version) => manifestDigestOf(version) === digest);
  const referrers = await referrersOf(deps, versions ?? []);
  return referrers.filter((one) => artifactType === undefined || one.artifactType === artifactType);
}

/**
 * Lists tags in the order of their bytes: of versions, then of guests, then `latest`.
 *
 * @param last the tag after which the list begins
 */
export async function listTags(
  { store: { read } }: Pick<Deps, 'store'>,
  repository: Repository,
  { limit, last = '' }: { readonly limit: number; readonly last?: string | undefined },
): Promise<{ readonly tags: readonly string[]; readonly hasMore: boolean }> {
  const versionTags = hasTags(repository) ? (await read.versionNamesOf(repository.plugin)).flatMap(ociTagsOf) : [];
  const isEmpty = versionTags.length === 0;
  const tags = versionTags.filter((tag) => tag > last).sort((a, b) => (a < b ? -1 : 1));
  if (tags.length <= limit) tags.push(...(await boundTags(read, repository, last, limit + 1 - tags.length)));
  if (!isEmpty && 'latest' > last) tags.push('latest');
  return { tags: tags.slice(0, limit), hasMore: tags.length > limit };
}

/** Whether published versions have tags: the team blocks neither the plugin nor its publisher. */
function hasTags({ plugin }: Repository): boolean {
  return plugin.block === null && plugin.publisherBlock === null;
}

async function findTagged(read: Queries, repository: Repository, tag: string): Promise<VersionRecord | undefined> {
  const { access, plugin } = repository;
  if (tag.startsWith(boundPrefix)) {
    const guestId = tag.slice(boundPrefix.length);
    if (!isMember(access) || !isId('guest', guestId)) return undefined;
    const binding = await read.binding(plugin.extensionPointId, guestId, plugin.name);
    if (binding?.userId !== plugin.userId || binding.versionNumber === null) return undefined;
    return read.version(plugin, binding.versionNumber);
  }
  if (!hasTags(repository)) return undefined;
  if (tag === 'latest') return read.newestPublished(plugin);
  const named = parseOciTag(tag);
  if (named === undefined) return undefined;
  if (named.semver !== null) return read.newestPublished(plugin, named.semver);
  const version = await read.version(plugin, named.number);
  return version?.state === 'published' ? version : undefined;
}

/** Returns the tags of the guests under which a version is bound. Only the team may know the guests. */
async function boundTags(
  read: Queries,
  { access, plugin }: Repository,
  last: string,
  limit: number,
): Promise<readonly string[]> {
  const isAfterAll = last >= boundPrefix && !last.startsWith(boundPrefix);
  if (!isMember(access) || isAfterAll) return [];
  const after = last.startsWith(boundPrefix) ? last.slice(boundPrefix.length) : '';
  const guestIds = await read.guestsBoundToPlugin(plugin, after, limit);
  return guestIds.map((id) => boundPrefix + id);
}

function findVersionOf(deps: Deps, { access, plugin }: Repository, digest: OciDigest) {
  return findVersionOfDocument(deps, access.extensionPoint, plugin, digest);
}

/** Describes the documents about a version as an image index. */
export function toReferrerIndex(referrers: readonly Referrer[]) {
  return {
    schemaVersion: 2 as const,
    mediaType: ociMediaTypes.index,
    manifests: referrers.map(({ manifest: { mediaType, digest, size }, artifactType, annotations }) => ({
      mediaType,
      digest,
      size,
      artifactType,
      annotations,
    })),
  };
}

import {
  type AppId,
  type ContentAddress,
  contentAddressOfDigest,
  type OciDescriptor,
  type OciDigest,
  type OciDocument,
  ociEmptyConfig,
  ociEmptyText,
  parseOciTag,
} from '@tenon/protocol';
import type { ExtensionPointAccess } from '../auth/access.ts';
import { guestWithinRestriction } from '../auth/token-restriction.ts';
import type { PushedImage } from '../db/oci-records.ts';
import type { PluginKey, VersionRecord } from '../db/records.ts';
import type { Queries, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../http/domain-errors.ts';
import { requirePublisherNotBlocked } from '../plugins/blocked-publishers.ts';
import { manifestDigestOf } from '../plugins/oci-version-names.ts';
import { requireNotBlocked } from '../plugins/plugins.ts';
import { publish } from '../plugins/publish.ts';
import { guestsOfVersion, readHeldGuests } from '../plugins/publish-guests.ts';
import {
  InvalidImageError,
  type PushedManifest,
  readPushedConfig,
  readPushedManifest,
  toPushedImage,
} from '../plugins/pushed-image.ts';
import { storeImage } from '../plugins/version-image.ts';
import { findVersionOfDocument } from './oci-documents.ts';
import { invalidManifest, OciError, wrongDigest } from './oci-error.ts';
import { imageOf } from './oci-image.ts';
import type { Uploader } from './oci-uploads.ts';

/** A push of a manifest. */
export interface ManifestPush {
  readonly uploader: Uploader;
  readonly access: ExtensionPointAccess;
  /** A tag or a digest. */
  readonly reference: string;
  readonly bytes: Uint8Array;
  /** Takes memory for the module, or throws. */
  readonly reserve: (bytes: number) => void;
  readonly signal: AbortSignal;
}

/** The version that a tag names: `semver`, or the number. */
type VersionTag = Pick<VersionRecord, 'semver'> & { readonly tag: string; readonly number: number | undefined };

/**
 * Publishes the module of a pushed manifest, as {@link publish}, with the tag as its version. The server keeps the manifest and the
 * configuration byte for byte. To push the same manifest again only publishes the newest version under guests that you have accepted since.
 *
 * @returns the version with this manifest
 * @throws DomainError as {@link publish}; `invalid_request` for an unsupported manifest or tag; `not_found` for unknown blobs; `conflict` for
 *   the tag of a version with another manifest, for a version that was withdrawn, and for a version that failed its simulations
 */
export async function pushManifest(
  deps: Deps,
  push: ManifestPush,
): Promise<{ readonly version: VersionRecord; readonly digest: OciDigest }> {
  const { uploader, access, reference, bytes, reserve, signal } = push;
  const { actor, key } = uploader;
  const { read } = deps.store;
  const manifest = orInvalid(() => readPushedManifest(bytes));
  const { digest } = manifest.document;
  const tag = reference.includes(':') ? await tagOfDigest(deps, push, digest) : parseTag(reference);
  const plugin = await read.plugin(key);
  requireNotBlocked(plugin);
  requirePublisherNotBlocked(plugin?.publisherBlock ?? null);
  const present = plugin && (await findVersion(read, uploader, tag));
  if (present !== undefined) requireSameImage(present, tag, digest);
  let number = present?.number ?? 0;
  if (present === undefined || (plugin?.newest.id === present.id && (await hasFurtherGuests(read, push, present)))) {
    const image = toPushedImage(manifest.document, await readConfig(deps, push, manifest));
    const module = await readModule(deps, uploader, manifest, reserve);
    const withVersion = async (tx: Transaction, version: VersionRecord, isNew: boolean): Promise<void> => {
      if (isNew && present !== undefined) throw rolledBack(present);
      number = version.number;
      if (isNew) await storePushed(deps, tx, access.app.id, version, tag, image);
      else requireSameImage(version, tag, digest);
    };
    const semver = present === undefined ? (tag.semver ?? undefined) : undefined;
    await publish(deps, actor, access, key, { ...module, semver, withVersion }, { signal });
  }
  const uploaded = [manifest.config, manifest.layer].map((blob) => addressOf(blob.digest));
  await deps.store.write((tx) => tx.deleteFinishedOciUploads(key, uploaded));
  const version = await read.version(key, number);
  if (version === undefined) throw new DomainError('conflict', 'The version was deleted while it was published.');
  return { version: requirePublishable(version), digest };
}

/** Whether the publisher holds guests under which a version, which was not withdrawn, is not published: those accepted since its push. */
async function hasFurtherGuests(
  read: Queries,
  { uploader: { actor }, access: { app } }: ManifestPush,
  version: VersionRecord,
): Promise<boolean> {
  if (isWithdrawn(version)) return false;
  const guests = await readHeldGuests(read, actor.userId, app.id, guestWithinRestriction(actor, undefined));
  const ids = guests.map(({ id }) => id);
  return (await guestsOfVersion(read, version.id, ids)).size < ids.length;
}

/** Publishing the same bytes again would create another version. */
function rolledBack(version: VersionRecord): DomainError {
  const message = `Version ${describe(version)} is rolled back under a guest. Push another version.`;
  return new DomainError('conflict', message);
}

function orInvalid<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidImageError) throw invalidManifest(error.message);
    throw error;
  }
}

const tagRule =
  'A tag is the version: a semantic version such as 1.2.0, with "_" instead of "+", or the number of the next version.';

/** @throws DomainError `invalid_request` */
function parseTag(tag: string): VersionTag {
  const named = parseOciTag(tag);
  if (named !== undefined) return { tag, ...named };
  throw new OciError('invalid_request', 'UNSUPPORTED', `${tagRule} The server computes all other tags.`);
}

/** Returns the number of the version that has a manifest. @throws DomainError `invalid_request` */
async function tagOfDigest(
  deps: Deps,
  { uploader, access, reference }: ManifestPush,
  digest: OciDigest,
): Promise<VersionTag> {
  if (reference !== digest) throw wrongDigest();
  const found = await findPushed(deps, access, uploader.key, digest);
  if (found !== undefined && manifestDigestOf(found) === digest) {
    return { tag: reference, semver: null, number: found.number };
  }
  throw new OciError('invalid_request', 'UNSUPPORTED', `Push a tag. ${tagRule}`);
}

async function findVersion(
  read: Queries,
  { key }: Uploader,
  { semver, number }: VersionTag,
): Promise<VersionRecord | undefined> {
  const used = semver === null ? number : (await read.semverUse(key, semver))?.number;
  return used === undefined || used === null ? undefined : read.version(key, used);
}

/** @throws DomainError `conflict` */
function requireSameImage(version: VersionRecord, { tag, semver, number }: VersionTag, digest: OciDigest): void {
  const isNamed = semver === null ? version.number === number : version.semver === semver;
  if (!isNamed) {
    throw new DomainError(
      'conflict',
      `The newest version, ${describe(version)}, has this module. Push another module.`,
    );
  }
  const present = manifestDigestOf(version);
  if (present === digest) return;
  throw new DomainError(
    'conflict',
    `The tag ${tag} names version ${describe(version)}, whose manifest is ${present}. Push another version.`,
  );
}

/** @throws DomainError `conflict` for a version that was withdrawn, or has failed */
function requirePublishable(version: VersionRecord): VersionRecord {
  if (!isWithdrawn(version)) return version;
  const { state, stateReason } = version;
  const end = state === 'failed' ? 'did not pass its simulations' : `was ${state}`;
  throw new DomainError('conflict', `Version ${describe(version)} ${end}${stateReason ? `: ${stateReason}` : '.'}`);
}

function isWithdrawn({ state }: VersionRecord): boolean {
  return state === 'failed' || state === 'rejected' || state === 'yanked';
}

/** Returns why a version that was pushed has no tag yet; `undefined` if it has. */
export function pendingReason({ state }: VersionRecord): string | undefined {
  switch (state) {
    case 'testing':
      return 'The simulations of the version have not ended.';
    case 'awaiting_approval':
      return 'The version awaits approval.';
    case 'cooling_down':
      return 'The version does not have its minimum age.';
    default:
      return undefined;
  }
}

function describe({ number, semver }: VersionRecord): string {
  return semver === null ? String(number) : `${number} (${semver})`;
}

/** Stores the image of a new version, unless it is the one that is computed. @throws DomainError `conflict`, `quota_exceeded` */
async function storePushed(
  deps: Deps,
  tx: Transaction,
  appId: AppId,
  version: VersionRecord,
  { number }: VersionTag,
  image: PushedImage,
): Promise<void> {
  if (number !== undefined && number !== version.number) {
    throw new DomainError('conflict', `The next version has the number ${version.number}, and not ${number}.`);
  }
  if (image.manifestDigest === manifestDigestOf(version)) return;
  await storeImage(deps, tx, appId, version, image);
}

async function readConfig(deps: Deps, push: ManifestPush, manifest: PushedManifest): Promise<OciDocument> {
  const { config } = manifest;
  const bytes = await findConfigBytes(deps, push, config);
  requireSize(config, bytes.length);
  return { ...config, text: orInvalid(() => readPushedConfig(bytes, manifest)) };
}

async function findConfigBytes(
  deps: Deps,
  { uploader: { key }, access }: ManifestPush,
  config: OciDescriptor,
): Promise<Uint8Array> {
  if (config.digest === ociEmptyConfig.digest) return Buffer.from(ociEmptyText);
  const uploaded = await findUploaded(deps, key, addressOf(config.digest));
  if (uploaded !== undefined) {
    requireSize(config, uploaded.size);
    return uploaded.read();
  }
  const version = await findPushed(deps, access, key, config.digest);
  const known = version && (await imageOf(deps.store.read, version)).config;
  if (known?.digest !== config.digest) throw unknownBlobOfManifest(config);
  return Buffer.from(known.text);
}

async function readModule(
  deps: Deps,
  { key }: Uploader,
  { layer }: PushedManifest,
  reserve: (bytes: number) => void,
): Promise<{ readonly bytes: Uint8Array; readonly isCharged: boolean }> {
  const address = addressOf(layer.digest);
  const uploaded = await findUploaded(deps, key, address);
  const isPublished = (await deps.store.read.versionOfContent(key, address)) !== undefined;
  const found = uploaded ?? (isPublished ? await deps.contents.find(address) : undefined);
  if (found === undefined) throw unknownBlobOfManifest(layer);
  requireSize(layer, found.size);
  reserve(found.size);
  return { bytes: await found.read(), isCharged: uploaded !== undefined };
}

/** Finds the version of a plugin, which need not exist, that has a document. */
async function findPushed(deps: Deps, { extensionPoint }: ExtensionPointAccess, key: PluginKey, digest: OciDigest) {
  const plugin = await deps.store.read.plugin(key);
  return plugin && findVersionOfDocument(deps, extensionPoint, plugin, digest);
}

/** Finds the content of a finished upload. */
async function findUploaded({ store, contents, clock }: Deps, key: PluginKey, address: ContentAddress) {
  const upload = await store.read.finishedOciUpload(key, address, clock());
  return upload && contents.find(address);
}

function addressOf(digest: OciDigest): ContentAddress {
  return contentAddressOfDigest(digest) as ContentAddress;
}

function unknownBlobOfManifest({ mediaType, digest }: OciDescriptor): DomainError {
  const message = `The blob ${digest} (${mediaType}) has not been uploaded to this repository.`;
  return new OciError('not_found', 'MANIFEST_BLOB_UNKNOWN', message);
}

function requireSize({ digest, size }: OciDescriptor, actual: number): void {
  if (size === actual) return;
  throw new OciError('invalid_request', 'SIZE_INVALID', `The blob ${digest} has ${actual} bytes, and not ${size}.`);
}

import { type ContentAddress, contentAddressOfDigest, isId, newId } from '@tenon/protocol';
import { type Actor, type ExtensionPointAccess, requireActiveToken } from '../auth/access.ts';
import { chargeStoredBytes } from '../auth/quotas.ts';
import { writeWithBlob } from '../blobs/with-blob.ts';
import type { OciChunkRecord, OciUploadRecord } from '../db/oci-records.ts';
import type { PluginKey } from '../db/records.ts';
import type { Queries, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { tooLarge } from '../http/bodies/read-bytes.ts';
import { type DomainError, notFound } from '../http/domain-errors.ts';
import type { PluginTarget } from '../plugins/plugins.ts';
import { contentAddressOf } from '../plugins/publish.ts';
import { OciError, unknownUpload, wrongDigest } from './oci-error.ts';

/*
 * Uploads of blobs: https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md#push. The chunks of an upload are contents in the
 * blob store, and the rest is in the metadata store, so each request may reach another node.
 */

/** How long an upload exists after its last change. */
export const uploadLifetimeMs = 60 * 60_000;

/** The maximum number of an account's uploads that have not become part of a version. */
export const maxUploads = 100;

/** The maximum number of chunks of an upload. Clients send larger chunks if the server tells them the minimum. */
export const maxChunks = 100;

/** Whose upload it is, and the plugin that it is for. */
export interface Uploader {
  readonly actor: Actor;
  readonly key: PluginKey;
}

/** The bytes of a request. */
export interface SentBytes {
  readonly bytes: Uint8Array;
  /** The offset of the first byte in the upload. Default: the end of the upload. */
  readonly startByte?: number | undefined;
}

/** @throws DomainError `limit_exceeded`, `invalid_token`, `not_found` for an extension point that was deleted */
export async function startUpload(deps: Deps, uploader: Uploader): Promise<OciUploadRecord> {
  const upload = newUpload(deps, uploader);
  await deps.store.write(async (tx) => {
    await requireActiveToken(tx, uploader.actor);
    await insertUpload(deps, tx, upload);
  });
  return upload;
}

/**
 * Uploads a whole blob. If it throws, there is no upload.
 *
 * @throws DomainError as {@link startUpload} and {@link finishUpload}
 */
export async function uploadBlob(
  deps: Deps,
  uploader: Uploader,
  { bytes, contentAddress }: { readonly bytes: Uint8Array; readonly contentAddress: ContentAddress },
): Promise<void> {
  const size = bytes.length;
  if (size === 0) throw emptyBlob();
  if (contentAddressOf(bytes) !== contentAddress) throw wrongDigest();
  const upload = newUpload(deps, uploader);
  await requireUploadsLeft(deps, deps.store.read, upload);
  await storeReceived(deps, uploader, { address: contentAddress, bytes, received: size }, async (tx) => {
    await insertUpload(deps, tx, upload);
    await tx.finishOciUpload({ id: upload.id, size, contentAddress, expiresAtMs: upload.expiresAtMs }, 0);
  });
}

function newUpload({ clock }: Deps, { key: { extensionPointId, userId, name } }: Uploader): OciUploadRecord {
  const expiresAtMs = clock() + uploadLifetimeMs;
  return { id: newId('ociUpload'), extensionPointId, userId, name, size: 0, contentAddress: null, expiresAtMs };
}

/** @throws DomainError `limit_exceeded`, `not_found` */
async function insertUpload(deps: Deps, tx: Transaction, upload: OciUploadRecord): Promise<void> {
  await requireUploadsLeft(deps, tx, upload);
  if ((await tx.extensionPoint(upload.extensionPointId)) === undefined) throw notFound('extension point');
  await tx.insertOciUpload(upload);
}

/** @throws DomainError `limit_exceeded` */
async function requireUploadsLeft(
  { clock }: Deps,
  read: Pick<Queries, 'countOciUploads'>,
  { userId }: OciUploadRecord,
): Promise<void> {
  if ((await read.countOciUploads(userId, clock())) >= maxUploads) throw tooManyUploads();
}

/** Finds an unfinished upload. @throws DomainError `not_found` */
export async function findUpload(deps: Deps, uploader: Uploader, id: string): Promise<OciUploadRecord> {
  const upload = await findAnyUpload(deps, uploader, id);
  if (upload.contentAddress !== null) throw unknownUpload();
  return upload;
}

async function findAnyUpload({ store, clock }: Deps, { key }: Uploader, id: string): Promise<OciUploadRecord> {
  const upload = isId('ociUpload', id) ? await store.read.ociUpload(id) : undefined;
  const isOwn =
    upload?.userId === key.userId && upload.extensionPointId === key.extensionPointId && upload.name === key.name;
  if (upload === undefined || !isOwn || upload.expiresAtMs <= clock()) throw unknownUpload();
  return upload;
}

/**
 * Adds bytes to the end of an upload.
 *
 * @returns the size of the upload
 * @throws DomainError `not_found`, `range_not_satisfiable` for bytes that don't follow the last ones, `payload_too_large`, `limit_exceeded`,
 *   `rate_limited`, `invalid_token`
 */
export async function appendToUpload(deps: Deps, uploader: Uploader, id: string, sent: SentBytes): Promise<number> {
  const upload = await findUpload(deps, uploader, id);
  const size = sizeAfter(deps, upload, sent);
  if (sent.bytes.length === 0) return size;
  if ((await deps.store.read.ociChunks(upload.id)).length >= maxChunks) throw tooManyChunks();
  const contentAddress = contentAddressOf(sent.bytes);
  const chunk = { uploadId: upload.id, startByte: upload.size, size: sent.bytes.length, contentAddress };
  await storeReceived(
    deps,
    uploader,
    { address: contentAddress, bytes: sent.bytes, received: chunk.size },
    async (tx) => {
      if (!(await tx.appendOciChunk(chunk, deps.clock() + uploadLifetimeMs))) throw changedMeanwhile(upload.size);
    },
  );
  return size;
}

interface FinishOptions extends SentBytes {
  /** Of the whole blob. */
  readonly contentAddress: ContentAddress;
  /** Takes memory for the whole blob, or throws. */
  readonly reserve: (bytes: number) => void;
}

/**
 * Adds the last bytes to an upload, if there are any, and finishes it. To finish it again has no effect.
 *
 * @throws DomainError as {@link appendToUpload}, and `invalid_request` if the digest is wrong, or the blob is empty
 */
export async function finishUpload(
  deps: Deps,
  uploader: Uploader,
  id: string,
  { contentAddress, reserve, ...sent }: FinishOptions,
): Promise<void> {
  const upload = await findAnyUpload(deps, uploader, id);
  if (upload.contentAddress === contentAddress && sent.bytes.length === 0) return;
  if (upload.contentAddress !== null) throw unknownUpload();
  const size = sizeAfter(deps, upload, sent);
  if (size === 0) throw emptyBlob();
  const finish = async (tx: Transaction): Promise<void> => {
    const finished = { id: upload.id, size, contentAddress, expiresAtMs: deps.clock() + uploadLifetimeMs };
    if (!(await tx.finishOciUpload(finished, upload.size))) throw changedMeanwhile(upload.size);
  };
  const chunks = await deps.store.read.ociChunks(upload.id);
  const [only] = chunks;
  if (only !== undefined && only.size === size) {
    if (only.contentAddress !== contentAddress) throw wrongDigest();
    await deps.store.write(async (tx) => {
      await requireActiveToken(tx, uploader.actor);
      await finish(tx);
    });
    return;
  }
  if (chunks.length > 0) reserve(size);
  const bytes = chunks.length === 0 ? sent.bytes : await join(deps, chunks, sent.bytes, size);
  if (contentAddressOf(bytes) !== contentAddress) throw wrongDigest();
  await storeReceived(deps, uploader, { address: contentAddress, bytes, received: sent.bytes.length }, finish);
}

/** @throws DomainError `not_found` */
export async function cancelUpload(deps: Deps, uploader: Uploader, id: string): Promise<void> {
  const { id: found } = await findUpload(deps, uploader, id);
  await deps.store.write((tx) => tx.deleteOciUpload(found));
}

/** Finds the content of a finished upload of the actor's. */
export async function findUploadedBlob(
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  { actor, extensionPoint }: ExtensionPointAccess,
  { userId, name }: PluginTarget,
  digest: string,
): Promise<{ readonly address: ContentAddress } | undefined> {
  const address = contentAddressOfDigest(digest);
  if (address === undefined || userId !== actor.userId) return undefined;
  const key = { extensionPointId: extensionPoint.id, userId: actor.userId, name };
  return (await store.read.finishedOciUpload(key, address, clock())) && { address };
}

/** Stores bytes, charges the account for those that the request sent, and runs a transaction that refers to them. */
function storeReceived(
  deps: Deps,
  { actor, key }: Uploader,
  {
    address,
    bytes,
    received,
  }: { readonly address: ContentAddress; readonly bytes: Uint8Array; readonly received: number },
  work: (tx: Transaction) => Promise<void>,
): Promise<void> {
  return writeWithBlob(
    deps,
    address,
    bytes,
    async (tx) => {
      await requireActiveToken(tx, actor);
      await work(tx);
    },
    (tx) => chargeStoredBytes(deps, tx, key.userId, received),
  );
}

/** Returns the bytes of chunks, followed by more bytes. */
async function join(
  { contents }: Deps,
  chunks: readonly OciChunkRecord[],
  rest: Uint8Array,
  size: number,
): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(size);
  for (const { contentAddress, startByte } of chunks) {
    const found = await contents.find(contentAddress);
    if (found === undefined) throw unknownUpload();
    let end = startByte;
    for await (const part of await found.open()) {
      bytes.set(part, end);
      end += part.length;
    }
  }
  bytes.set(rest, size - rest.length);
  return bytes;
}

/** Returns the size of an upload after bytes have been added. @throws DomainError `range_not_satisfiable`, `payload_too_large` */
function sizeAfter({ settings }: Deps, { size }: OciUploadRecord, { bytes, startByte = size }: SentBytes): number {
  if (startByte !== size) throw outOfOrder(`The next chunk must start at byte ${size}, not ${startByte}.`, size);
  const { maxModuleBytes } = settings;
  if (size + bytes.length > maxModuleBytes) throw tooLarge('A blob', maxModuleBytes);
  return size + bytes.length;
}

/** Returns the bytes that an upload has, as the field `range`. */
export function rangeOf(size: number): string {
  return `0-${Math.max(0, size - 1)}`;
}

function outOfOrder(message: string, size: number): DomainError {
  return new OciError('range_not_satisfiable', 'BLOB_UPLOAD_INVALID', message, { range: rangeOf(size) });
}

function changedMeanwhile(size: number): DomainError {
  return outOfOrder('Another request has changed the upload. Read its status.', size);
}

function emptyBlob(): DomainError {
  return new OciError('invalid_request', 'SIZE_INVALID', 'A blob must have at least one byte.');
}

function tooManyUploads(): DomainError {
  return new OciError(
    'limit_exceeded',
    'DENIED',
    `Your account has ${maxUploads} uploads that are not part of a version. Push their manifests, cancel some, or wait for an hour.`,
  );
}

function tooManyChunks(): DomainError {
  return new OciError(
    'limit_exceeded',
    'BLOB_UPLOAD_INVALID',
    `An upload can have ${maxChunks} chunks. Send larger ones.`,
  );
}

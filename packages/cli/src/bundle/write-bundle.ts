import { createHash } from 'node:crypto';
import { type FileHandle, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  attestation,
  type ContentAddress,
  extensionPointAttestation as extensionPointAttestationSchema,
  extensionPoint as extensionPointSchema,
  ociImageOf,
  pluginBinding,
  plugin as pluginSchema,
  testResult,
  version as versionSchema,
} from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import type { Static } from 'typebox';
import { type Api, path } from '../api.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { createProgress, showStep } from '../progress.ts';
import { readStatement } from '../provenance/statement.ts';
import type { Session } from '../session.ts';
import { printable } from '../text.ts';
import {
  type Catalog,
  type CatalogExtensionPoint,
  type CatalogPlugin,
  type CatalogVersion,
  readImageManifest,
} from './catalog.ts';
import { stateDigest } from './extension-point-attestation.ts';
import { type Blob, blobFile, createLayout, indexFile, layoutFile, layoutText, sha256 } from './layout.ts';
import { maxFileBytes, tarEnd, tarHeader, tarPadding } from './tar.ts';

/** Keeps documents in files until they are written, because there may be many. */
interface Spool {
  readonly put: (value: unknown) => Promise<{ readonly digest: string; readonly size: number }>;
  readonly putBytes: (bytes: Buffer) => Promise<{ readonly digest: string; readonly size: number }>;
  readonly get: (digest: string) => Promise<Buffer>;
}

/** Reads extension points from the server, and writes them as a bundle. Equal states of the server give equal bytes. */
export async function writeBundle(
  session: Session,
  extensionPointIds: readonly string[],
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<Catalog> {
  return withSpool(async (spool) => {
    const extensionPoints: CatalogExtensionPoint[] = [];
    for (const id of [...extensionPointIds].sort()) extensionPoints.push(await readAttested(session, spool, id));
    const catalog = { extensionPoints };
    const layout = createLayout(catalog, Buffer.from(JSON.stringify(catalog)));
    const total = layout.blobs.reduce((sum, { size }) => sum + size, 0);
    const progress = createProgress(session.io, !session.out.isJson, 'Exporting', total);
    const writeWhole = async (name: string, bytes: Uint8Array) => {
      for (const part of [tarHeader(name, bytes.length), bytes, tarPadding(bytes.length)]) await write(part);
    };
    try {
      await writeWhole(layoutFile, Buffer.from(layoutText));
      await writeWhole(indexFile, layout.index);
      for (const blob of layout.blobs) {
        const { digest, size, source } = blob;
        if (source.kind === 'module') await writeModule(session, blob, source.contentAddress, write, progress.advance);
        else {
          await writeWhole(blobFile(digest), source.kind === 'computed' ? source.bytes : await spool.get(digest));
          progress.advance(size);
        }
      }
      await write(tarEnd);
    } finally {
      progress.end();
    }
    return catalog;
  });
}

/** Streams a module, whose size and digest the archive already says. */
async function writeModule(
  { api }: Session,
  { digest, size }: Blob,
  contentAddress: string,
  write: (bytes: Uint8Array) => Promise<void>,
  onWritten: (bytes: number) => void,
): Promise<void> {
  if (size > maxFileBytes) throw new CliError('file', `The module ${contentAddress} is too large for a bundle.`);
  await write(tarHeader(blobFile(digest), size));
  const { chunks } = await api.download(path`/api/v1/c/${contentAddress}`);
  const found = createHash('sha256');
  for await (const chunk of chunks) {
    found.update(chunk);
    await write(chunk);
    onWritten(chunk.length);
  }
  if (found.digest('hex') !== digest) {
    throw new CliError('digest_mismatch', `The downloaded bytes don't match ${contentAddress}.`, {
      hint: 'They were damaged in transit, or the server or a proxy is faulty.',
    });
  }
  await write(tarPadding(size));
}

async function withSpool<T>(work: (spool: Spool) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-bundle-'));
  try {
    const putBytes = async (bytes: Buffer) => {
      const digest = sha256(bytes);
      await writeFile(join(folder, digest), bytes);
      return { digest, size: bytes.length };
    };
    return await work({
      put: (value) => putBytes(Buffer.from(JSON.stringify(value))),
      putBytes,
      get: (digest) => readFile(join(folder, digest)),
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** How often an extension point is read until the server attests what was read. */
const maxReads = 5;

/** @throws CliError `conflict` if the extension point changes during each reading */
async function readAttested(session: Session, spool: Spool, id: string): Promise<CatalogExtensionPoint> {
  for (let count = 0; count < maxReads; count++) {
    const found = await readExtensionPoint(session, spool, id);
    const attested = await session.api.get(
      path`/api/v1/extension-points/${id}/attestation`,
      extensionPointAttestationSchema,
    );
    if (readStatement(attested.bundle)?.digests.includes(stateDigest(found))) {
      return { ...found, attestation: await spool.put(attested.bundle) };
    }
  }
  throw new CliError('conflict', `${id} changed each of the ${maxReads} times that it was read.`, {
    exitCode: exitCodes.conflict,
    hint: 'Export it again at a quieter time.',
  });
}

async function readExtensionPoint(
  session: Session,
  spool: Spool,
  id: string,
): Promise<Omit<CatalogExtensionPoint, 'attestation'>> {
  const { api, io, out } = session;
  const found = await api.get(path`/api/v1/extension-points/${id}`, extensionPointSchema);
  const listed = await api.list(path`/api/v1/extension-points/${id}/plugins?maxGuests=1`, pluginSchema);
  const plugins: CatalogPlugin[] = [];
  for (const [index, one] of listed.entries()) {
    const end = showStep(io, !out.isJson, `Reading plugin ${index + 1} of ${listed.length}: ${printable(one.name)}`);
    const plugin = await readPlugin(api, spool, one).finally(end);
    if (plugin !== undefined) plugins.push(plugin);
  }
  plugins.sort((one, other) => (one.id < other.id ? -1 : 1));
  const { name, schema, requiresApproval, minVersionAgeSeconds, limits } = found;
  return { id: found.id, name, schema, requiresApproval, minVersionAgeSeconds, limits, plugins };
}

/** The bound versions of a plugin; `undefined` if none is bound. */
async function readPlugin(
  api: Api,
  spool: Spool,
  { id, extensionPointId, userId, userName, name }: Static<typeof pluginSchema>,
): Promise<CatalogPlugin | undefined> {
  const place = path`/api/v1/artifacts/${extensionPointId}/plugin/${userId}/${name}`;
  const bindings = (await api.list(`${place}/bindings`, pluginBinding)).flatMap(({ guestKey, version }) => {
    if (guestKey === undefined) throw notOfTheTeam();
    return version === null ? [] : [{ guestKey, version }];
  });
  if (bindings.length === 0) return undefined;
  bindings.sort((one, other) => (one.guestKey < other.guestKey ? -1 : 1));
  const numbers = new Set(bindings.map(({ version }) => version));
  const listed = await api.list(`${place}/versions?maxGuests=1`, versionSchema);
  const bound = listed.filter(({ number }) => numbers.has(number)).sort((one, other) => one.number - other.number);
  const versions: CatalogVersion[] = [];
  for (const one of bound) {
    const { number, semver, note, contentAddress, size } = one;
    const found = await readDocuments(api, spool, `${place}/versions/${number}`, one);
    const image = await readPushedImage(api, spool, one);
    versions.push({ number, semver, note, contentAddress, size, ...found, ...(image && { image }) });
  }
  return { id, userId, userName, name, versions, bindings };
}

async function readDocuments(api: Api, spool: Spool, place: string, { verdict }: Static<typeof versionSchema>) {
  const { objects } = await api.get(`${place}/attestations`, Type.Object({ objects: Type.Array(attestation) }));
  const attestations: CatalogVersion['attestations'] = [];
  for (const { kind, bundle } of objects) {
    // The server's own attestation names the origin.
    if (kind !== 'origin') attestations.push({ kind, ...(await spool.put(bundle)) });
  }
  const isTested = verdict !== null && verdict !== 'none_configured';
  const result = isTested ? await readTestResult(api, `${place}/test-result`) : undefined;
  return { attestations, testResult: result === undefined ? null : await spool.put(result) };
}

/** The documents of the image that an OCI client pushed; `undefined` for a computed image. */
async function readPushedImage(
  api: Api,
  spool: Spool,
  { contentAddress, size, oci }: Static<typeof versionSchema>,
): Promise<CatalogVersion['image']> {
  const computed = ociImageOf({ contentAddress: contentAddress as ContentAddress, size }, (text) =>
    sha256(Buffer.from(text)),
  );
  if (oci.digest === computed.manifest.digest) return undefined;
  const place = `/v2/${oci.repository.slice(oci.repository.indexOf('/') + 1)}`;
  const download = async (kind: 'manifests' | 'blobs', digest: string) => {
    const bytes = await readAll((await api.download(`${place}/${kind}/${digest}`)).chunks);
    if (`sha256:${sha256(bytes)}` === digest) return bytes;
    throw new CliError('digest_mismatch', `The downloaded bytes don't match ${digest}.`);
  };
  const manifest = await download('manifests', oci.digest);
  const { config } = readImageManifest(manifest);
  return { manifest: await spool.putBytes(manifest), config: await spool.putBytes(await download('blobs', config)) };
}

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

/** Runs are deleted some time after the test. */
async function readTestResult(api: Api, place: string): Promise<Static<typeof testResult> | undefined> {
  try {
    return await api.get(place, testResult);
  } catch (error) {
    if (error instanceof CliError && error.exitCode === exitCodes.notFound) return undefined;
    throw error;
  }
}

function notOfTheTeam(): CliError {
  return new CliError('forbidden', "Only the application's team can export, because a bundle has guest keys.", {
    exitCode: exitCodes.denied,
  });
}

/** Writes to a file, one chunk after the other. */
export function writeTo(file: FileHandle): (bytes: Uint8Array) => Promise<void> {
  return async (bytes) => {
    await file.writeFile(bytes);
  };
}

import { createPublicKey } from 'node:crypto';
import type { TrustedKey } from '@tenon/client/provenance';
import { type PublishedPlugin, publishedPlugin, type version as versionSchema } from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import type { Static } from 'typebox';
import type { Api } from '../api.ts';
import { formBody } from '../form-body.ts';
import { readStatement } from '../provenance/statement.ts';
import { type CatalogVersion, parseJson } from './catalog.ts';
import { hexOf, sha256 } from './layout.ts';
import type { Bundle } from './open-bundle.ts';
import { invalidBundle } from './tar.ts';

/** A version of a plugin at this server. */
export type KnownVersion = Pick<
  Static<typeof versionSchema>,
  'number' | 'state' | 'semver' | 'contentAddress' | 'guestIds'
>;

/** A version of a bundle, and where it is published. */
export interface VersionImport {
  readonly version: CatalogVersion;
  /** The path of the plugin at this server. */
  readonly place: string;
  readonly guestId: string;
  /** The plugin's versions at this server, the newest first. */
  readonly present: readonly KnownVersion[];
}

export interface Importer {
  readonly api: Api;
  readonly read: Bundle['read'];
  /** The pinned keys, with which the bundle was verified. */
  readonly keys: readonly TrustedKey[];
  readonly onSent: (bytes: number) => void;
}

/** Publishes a version, or lets the server make the checks of its publish. */
export async function publishVersion(
  { api, read, keys, onSent }: Importer,
  { version, place, guestId, present }: VersionImport,
  { isDryRun }: { readonly isDryRun: boolean },
): Promise<PublishedPlugin> {
  const text = (value: string) => Buffer.from(value);
  const fields = new Map<string, Uint8Array>([['artifact', await read(hexOf(version.contentAddress))]]);
  // A label is used once per plugin, so that older bytes which are published again lose it.
  const isUsed = present.some(({ semver }) => semver === version.semver);
  if (version.semver !== null && !isUsed) fields.set('semver', text(version.semver));
  if (version.note !== null) fields.set('note', text(version.note));
  // A version has its documents from its first publish on.
  if (present[0]?.contentAddress !== version.contentAddress) {
    for (const [field, bytes] of (await documentsOf(version, read)).attached) fields.set(field, bytes);
    fields.set('origin', await originOf(version, read, keys));
    for (const [field, { digest }] of Object.entries(version.image ?? {})) fields.set(field, await read(digest));
  }
  const query = new URLSearchParams({ guest: guestId, ...(isDryRun && { dryRun: 'true' }) });
  return api.upload(`${place}?${query}`, { ...formBody(fields), onSent }, publishedPlugin);
}

/** Attaches the documents that don't fit into a publish. The server ignores those that it has. */
export async function attachFurther(
  { api, read, onSent }: Importer,
  version: CatalogVersion,
  place: string,
  number: number,
): Promise<void> {
  const attachments = `${place}/versions/${number}/attestations`;
  for (const bytes of (await documentsOf(version, read)).further) {
    await api.upload(attachments, { bytes, contentType: 'application/json', onSent }, Type.Object({}), 'POST');
  }
}

/** The publish attestation of the server that the bundle comes from, with the pinned key that verified it. */
async function originOf(
  { attestations }: CatalogVersion,
  read: Bundle['read'],
  keys: readonly TrustedKey[],
): Promise<Buffer> {
  const listed = attestations.find(({ kind }) => kind === 'publish');
  const bundle: unknown = listed === undefined ? {} : parseJson(await read(listed.digest), 'an attestation');
  const keyId = Object(Object(Object(bundle).verificationMaterial).publicKey).hint;
  const key = keys.find(({ spki }) => sha256(spki) === keyId);
  if (key === undefined) throw invalidBundle('a publish attestation names no pinned key');
  const publicKey = createPublicKey({ key: Buffer.from(key.spki), format: 'der', type: 'spki' });
  return Buffer.from(JSON.stringify({ bundle, publicKey: publicKey.export({ format: 'pem', type: 'spki' }) }));
}

/** The documents to attach. The server signs a plain SBOM itself, so that its origin's signature does not go with it. */
async function documentsOf({ attestations }: CatalogVersion, read: Bundle['read']) {
  const attached = new Map<string, Buffer>();
  const further: Buffer[] = [];
  for (const { kind, digest } of attestations) {
    if (kind !== 'provenance' && kind !== 'sbom') continue;
    const bytes = await read(digest);
    const bundle = parseJson(bytes, 'an attestation');
    const isPlain = Object(Object(bundle).verificationMaterial).publicKey !== undefined;
    const document = isPlain ? Buffer.from(JSON.stringify(readStatement(bundle)?.predicate)) : bytes;
    if (attached.has(kind)) further.push(document);
    else attached.set(kind, document);
  }
  return { attached, further };
}

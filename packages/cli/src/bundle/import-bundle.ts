import { createPublicKey } from 'node:crypto';
import type { TrustedKey } from '@tenon/client/provenance';
import {
  extensionPoint as extensionPointSchema,
  guest as guestSchema,
  invitationLink,
  invitationSettled,
  me as meSchema,
  type PublishedPlugin,
  publishedPlugin,
  savedExtensionPoint,
  version as versionSchema,
} from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import type { Static } from 'typebox';
import { path } from '../api.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { formBody } from '../form-body.ts';
import { showStep } from '../progress.ts';
import { readStatement } from '../provenance/statement.ts';
import type { Session } from '../session.ts';
import { count, printable } from '../text.ts';
import {
  type CatalogExtensionPoint,
  type CatalogPlugin,
  type CatalogVersion,
  parseJson,
  pluginsOf,
} from './catalog.ts';
import { hexOf, sha256 } from './layout.ts';
import type { Bundle } from './open-bundle.ts';
import { invalidBundle } from './tar.ts';

/** Where a bundle goes. */
export interface ImportTarget {
  readonly session: Session;
  readonly appId: string;
  readonly isDryRun: boolean;
  /** The pinned keys, with which the bundle was verified. */
  readonly keys: readonly TrustedKey[];
}

/** A version of a bundle under one guest, after the import. */
export interface ImportedVersion {
  /** The plugin's id at this server; `null` before its extension point exists. */
  readonly plugin: string | null;
  /** Its id in the bundle. */
  readonly from: string;
  readonly contentAddress: string;
  readonly guestKey: string;
  /** `present`: the guest had the version already. */
  readonly outcome: 'present' | 'published' | 'planned';
  /** The version here; `null` for a dry run. */
  readonly version: { readonly number: number; readonly state: string } | null;
}

export interface ImportReport {
  readonly extensionPoints: readonly { readonly id: string | null; readonly name: string; readonly isNew: boolean }[];
  readonly newGuestKeys: readonly string[];
  readonly versions: readonly ImportedVersion[];
}

/**
 * Publishes a verified bundle as the token's user, through the same requests as any publish. It publishes nothing that a guest has already,
 * so that an import that failed can be repeated. Extension points are found by name, and created if they are missing. The user becomes
 * a user of each guest.
 *
 * @throws CliError `conflict` before the first change, for plugins or extension points whose names are ambiguous
 */
export async function importBundle(target: ImportTarget, bundle: Bundle): Promise<ImportReport> {
  const { api } = target.session;
  requireUniqueNames(bundle);
  const { id: userId } = await api.get('/api/v1/me', meSchema);
  const present = await api.list(path`/api/v1/apps/${target.appId}/extension-points`, extensionPointSchema);
  const places = bundle.catalog.extensionPoints.map((one) => ({ source: one, found: findByName(present, one.name) }));
  const keys = pluginsOf(bundle.catalog).flatMap(({ plugin }) => plugin.bindings.map(({ guestKey }) => guestKey));
  const guests = await findGuests(target, [...new Set(keys)].sort(), userId);

  const extensionPoints: { id: string | null; name: string; isNew: boolean }[] = [];
  const versions: ImportedVersion[] = [];
  for (const { source, found } of places) {
    const id = found?.id ?? (await createExtensionPoint(target, source));
    extensionPoints.push({ id, name: source.name, isNew: found === undefined });
    for (const plugin of source.plugins) {
      versions.push(...(await importPlugin(target, bundle, guests, plugin, id, userId)));
    }
  }
  return { extensionPoints, newGuestKeys: guests.missing, versions };
}

/** Two publishers of a bundle may have the same plugin name. The import publishes as one. */
function requireUniqueNames({ catalog }: Bundle): void {
  const seen = new Set<string>();
  for (const name of catalog.extensionPoints.map(({ name }) => name)) {
    if (seen.has(name)) throw ambiguous(`several extension points of the bundle are named "${printable(name)}"`);
    seen.add(name);
  }
  for (const { plugins } of catalog.extensionPoints) {
    const ids = new Map<string, string>();
    for (const { id, name } of plugins) {
      const other = ids.get(name);
      if (other !== undefined) throw ambiguous(`${other} and ${id} have the same name, and you publish both`);
      ids.set(name, id);
    }
  }
}

function findByName<T extends { readonly name: string }>(present: readonly T[], name: string): T | undefined {
  const found = present.filter((one) => one.name === name);
  if (found.length > 1) throw ambiguous(`several extension points of the application are named "${printable(name)}"`);
  return found[0];
}

function ambiguous(why: string): CliError {
  return new CliError('conflict', `The bundle is refused: ${why}. Nothing was imported.`, {
    exitCode: exitCodes.conflict,
    hint: 'Export fewer extension points, or rename one.',
  });
}

async function createExtensionPoint(
  { session, appId, isDryRun }: ImportTarget,
  { name, schema, requiresApproval, minVersionAgeSeconds, limits }: CatalogExtensionPoint,
): Promise<string | null> {
  if (isDryRun) return null;
  const body = { name, schema, requiresApproval, minVersionAgeSeconds, limits };
  const created = await session.api.send(
    'POST',
    path`/api/v1/apps/${appId}/extension-points`,
    body,
    savedExtensionPoint,
  );
  return created.id;
}

/** The guests of a bundle at this server. */
interface Guests {
  /** The id of a guest that the user holds. Makes the guest, and the user its user, if needed. */
  readonly hold: (guestKey: string) => Promise<string | undefined>;
  /** Returns the id if the user holds the guest. */
  readonly held: (guestKey: string) => string | undefined;
  /** The keys that the user did not hold. */
  readonly missing: readonly string[];
}

async function findGuests(
  { session: { api, io, out }, appId, isDryRun }: ImportTarget,
  guestKeys: readonly string[],
  userId: string,
): Promise<Guests> {
  const ids = new Map<string, string>();
  const missing: string[] = [];
  for (const [index, guestKey] of guestKeys.entries()) {
    const end = showStep(io, !out.isJson, `Looking up guest ${index + 1} of ${guestKeys.length}`);
    const query = new URLSearchParams({ guestKey });
    const found = await api.list(`${path`/api/v1/apps/${appId}/guests`}?${query}`, guestSchema).finally(end);
    const guest = found.find((one) => one.users.some((user) => user.userId === userId));
    if (guest === undefined) missing.push(guestKey);
    else ids.set(guestKey, guest.id);
  }
  return {
    missing,
    held: (guestKey) => ids.get(guestKey),
    async hold(guestKey) {
      const id = ids.get(guestKey);
      if (id !== undefined || isDryRun) return id;
      const { link } = await api.send('POST', path`/api/v1/apps/${appId}/guests`, { guestKey }, invitationLink);
      const code = new URL(link).searchParams.get('code');
      const { guestId } = await api.send('POST', '/api/v1/invitations/accept', { code }, invitationSettled);
      if (guestId !== undefined) ids.set(guestKey, guestId);
      return guestId;
    },
  };
}

/** A version of a plugin at this server. */
type KnownVersion = Pick<Static<typeof versionSchema>, 'number' | 'state' | 'semver' | 'contentAddress' | 'guestIds'>;

async function importPlugin(
  target: ImportTarget,
  bundle: Bundle,
  guests: Guests,
  plugin: CatalogPlugin,
  extensionPointId: string | null,
  userId: string,
): Promise<ImportedVersion[]> {
  const { io, out } = target.session;
  const place =
    extensionPointId === null ? null : path`/api/v1/artifacts/${extensionPointId}/plugin/${userId}/${plugin.name}`;
  const id = extensionPointId === null ? null : `${extensionPointId}/plugin/${userId}/${plugin.name}`;
  const imported: ImportedVersion[] = [];
  const present: KnownVersion[] = place === null ? [] : await listVersions(target, place);
  for (const version of plugin.versions) {
    const { contentAddress } = version;
    const end = showStep(io, !out.isJson, `Importing ${printable(plugin.name)} (${version.size} bytes)`);
    try {
      for (const { guestKey } of plugin.bindings.filter((one) => one.version === version.number)) {
        const common = { plugin: id, from: plugin.id, contentAddress, guestKey };
        const held = guests.held(guestKey);
        const found = held === undefined ? undefined : findVersion(present, version, held);
        if (found !== undefined) {
          imported.push({ ...common, outcome: 'present', version: found });
          continue;
        }
        const guestId = await guests.hold(guestKey);
        if (place === null || guestId === undefined || target.isDryRun) {
          imported.push({ ...common, outcome: 'planned', version: null });
          continue;
        }
        const published = await publishVersion(target, bundle, place, present, version, guestId);
        const { number, state, semver } = published.version;
        if (published.isNewVersion) present.unshift({ number, state, semver, contentAddress, guestIds: [guestId] });
        imported.push({ ...common, outcome: 'published', version: { number, state } });
      }
    } finally {
      end();
    }
  }
  return imported;
}

/** The versions of a plugin, the newest first; none before its first publish. */
async function listVersions({ session: { api } }: ImportTarget, place: string): Promise<KnownVersion[]> {
  try {
    return await api.list(`${place}/versions`, versionSchema);
  } catch (error) {
    if (error instanceof CliError && error.exitCode === exitCodes.notFound) return [];
    throw error;
  }
}

/** Finds a version with the same bytes that was published under the guest, in whatever state it is. */
function findVersion(present: readonly KnownVersion[], { contentAddress }: CatalogVersion, guestId: string) {
  const found = present.find((one) => one.contentAddress === contentAddress && one.guestIds.includes(guestId));
  return found === undefined ? undefined : { number: found.number, state: found.state };
}

async function publishVersion(
  target: ImportTarget,
  { read }: Bundle,
  place: string,
  present: readonly KnownVersion[],
  version: CatalogVersion,
  guestId: string,
): Promise<PublishedPlugin> {
  const { api } = target.session;
  const text = (value: string) => Buffer.from(value);
  const fields = new Map<string, Uint8Array>([['artifact', await read(hexOf(version.contentAddress))]]);
  // A label is used once per plugin, so that older bytes which are published again lose it.
  const isUsed = present.some(({ semver }) => semver === version.semver);
  if (version.semver !== null && !isUsed) fields.set('semver', text(version.semver));
  if (version.note !== null) fields.set('note', text(version.note));
  // A version has its documents from its first publish on.
  const isNew = present[0]?.contentAddress !== version.contentAddress;
  const documents = isNew ? await documentsOf(version, read) : { attached: [], further: [] };
  for (const [field, bytes] of documents.attached) fields.set(field, bytes);
  if (isNew) fields.set('origin', await originOf(version, read, target.keys));
  const body = { ...formBody(fields), onSent() {} };
  const published = await api.upload(`${place}?${new URLSearchParams({ guest: guestId })}`, body, publishedPlugin);
  for (const bytes of documents.further) {
    const attachments = `${place}/versions/${published.version.number}/attestations`;
    await api.upload(attachments, { bytes, contentType: 'application/json', onSent() {} }, Type.Object({}), 'POST');
  }
  return published;
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

/** Says what an import did. */
export function describeImport({ extensionPoints, newGuestKeys, versions }: ImportReport, isDryRun: boolean): string {
  const number = (outcome: ImportedVersion['outcome']) => versions.filter((one) => one.outcome === outcome).length;
  const created = extensionPoints.filter(({ isNew }) => isNew).length;
  const changes = [
    count(number(isDryRun ? 'planned' : 'published'), 'binding'),
    count(created, 'new extension point'),
    count(newGuestKeys.length, 'guest'),
  ].join(', ');
  const waiting = versions.filter(({ version }) => version !== null && version.state !== 'published').length;
  const note = waiting === 0 ? '' : ` Not bound yet: ${waiting}. To see why: --json`;
  const what = isDryRun ? 'Dry run: the import would make' : 'The import made';
  return `${what} ${changes}. Present already: ${number('present')}.${note}`;
}

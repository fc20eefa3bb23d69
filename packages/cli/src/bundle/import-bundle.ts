import type { TrustedKey } from '@tenon/client/provenance';
import {
  extensionPoint as extensionPointSchema,
  me as meSchema,
  savedExtensionPoint,
  version as versionSchema,
} from '@tenon/protocol';
import { path } from '../api.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { createProgress } from '../progress.ts';
import type { Session } from '../session.ts';
import { printable } from '../text.ts';
import { type CatalogExtensionPoint, type CatalogPlugin, type CatalogVersion, pluginsOf } from './catalog.ts';
import { findGuests, type Guests } from './import-guests.ts';
import {
  type ImportedVersion,
  type ImportReport,
  IncompleteImport,
  isRefusal,
  type RefusedPlugin,
  refusedError,
} from './import-report.ts';
import { attachFurther, type Importer, type KnownVersion, publishVersion } from './import-version.ts';
import type { Bundle } from './open-bundle.ts';

/** Where a bundle goes. */
export interface ImportTarget {
  readonly session: Session;
  readonly appId: string;
  readonly isDryRun: boolean;
  /** The pinned keys, with which the bundle was verified. */
  readonly keys: readonly TrustedKey[];
  /** When each extension point of the bundle last changed, by its id there. */
  readonly changes: ReadonlyMap<string, string>;
  /** Imports a state although a newer one was imported before. */
  readonly allowsOlder: boolean;
}

/** An extension point of a bundle, and the one here. */
interface Destination {
  readonly source: CatalogExtensionPoint;
  /** `null` until it exists. */
  id: string | null;
  readonly isNew: boolean;
  /** When the newest state that was imported before last changed. */
  readonly importedAt: string | undefined;
  readonly plugins: readonly PluginImport[];
}

interface PluginImport {
  readonly plugin: CatalogPlugin;
  /** Its versions here, the newest first. */
  readonly present: KnownVersion[];
  readonly bindings: readonly BindingImport[];
}

interface BindingImport {
  readonly guestKey: string;
  readonly version: CatalogVersion;
  outcome: ImportedVersion['outcome'];
  here: ImportedVersion['version'];
}

/** What an import knows of the server, and does there. */
interface Plan {
  readonly userId: string;
  readonly guests: Guests;
  readonly destinations: readonly Destination[];
}

/**
 * Publishes a verified bundle as the token's user, through the same requests as any publish. First the server makes the checks of each publish,
 * so that the refusal of one publishes nothing. An import that failed can be repeated, because what a guest has is not published again.
 * Extension points are found by name, and created if they are missing. The user becomes a user of each guest.
 *
 * @throws CliError before the first publish: `conflict` for plugins or extension points whose names are ambiguous, `older_bundle`, and what the
 *   server refuses
 * @throws IncompleteImport
 */
export async function importBundle(target: ImportTarget, bundle: Bundle): Promise<ImportReport> {
  const plan = await makePlan(target, bundle);
  const asked = await askServer(target, bundle, plan, new Set());
  if (target.isDryRun) return toReport(plan);
  for (const destination of plan.destinations)
    destination.id ??= await createExtensionPoint(target, destination.source);
  for (const { bindings } of pluginsIn(plan)) for (const { guestKey } of bindings) await plan.guests.hold(guestKey);
  await askServer(target, bundle, plan, asked);
  for (const destination of plan.destinations) await noteImport(target, destination);
  try {
    await publishAll(target, bundle, plan);
  } catch (error) {
    if (error instanceof CliError) throw new IncompleteImport(toReport(plan), error);
    throw error;
  }
  return toReport(plan);
}

async function makePlan(target: ImportTarget, bundle: Bundle): Promise<Plan> {
  const { api } = target.session;
  requireUniqueNames(bundle);
  const { id: userId } = await api.get('/api/v1/me', meSchema);
  const points = await api.list(path`/api/v1/apps/${target.appId}/extension-points`, extensionPointSchema);
  const found = bundle.catalog.extensionPoints.map((source) => ({ source, here: findByName(points, source.name) }));
  const keys = pluginsOf(bundle.catalog).flatMap(({ plugin }) => plugin.bindings.map(({ guestKey }) => guestKey));
  const guests = await findGuests(target.session, target.appId, [...new Set(keys)].sort(), userId);
  const destinations: Destination[] = [];
  for (const { source, here } of found) {
    const importedAt = here?.imports.find(({ extensionPointId }) => extensionPointId === source.id)?.changedAt;
    requireNotOlder(target, source, importedAt);
    const plugins: PluginImport[] = [];
    for (const plugin of source.plugins) {
      const present = here === undefined ? [] : await listVersions(target, placeOf(here.id, userId, plugin));
      plugins.push({ plugin, present, bindings: bindingsOf(plugin, present, guests) });
    }
    destinations.push({ source, id: here?.id ?? null, isNew: here === undefined, importedAt, plugins });
  }
  return { userId, guests, destinations };
}

function bindingsOf({ versions, bindings }: CatalogPlugin, present: readonly KnownVersion[], guests: Guests) {
  return versions.flatMap((version) =>
    bindings
      .filter((one) => one.version === version.number)
      .map(({ guestKey }): BindingImport => {
        const guestId = guests.held(guestKey);
        const here = guestId === undefined ? undefined : findVersion(present, version, guestId);
        return { guestKey, version, outcome: here === undefined ? 'planned' : 'present', here: here ?? null };
      }),
  );
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

/** An old bundle stays valid for ever, with faults that were mended since. */
function requireNotOlder(
  { changes, allowsOlder }: ImportTarget,
  { id, name }: CatalogExtensionPoint,
  importedAt: string | undefined,
): void {
  const changedAt = changes.get(id);
  if (allowsOlder || importedAt === undefined || changedAt === undefined) return;
  if (Date.parse(changedAt) >= Date.parse(importedAt)) return;
  throw new CliError(
    'older_bundle',
    `The bundle is refused: its state of "${printable(name)}" last changed at ${changedAt}, and one of ${importedAt} was imported. Nothing was imported.`,
    { exitCode: exitCodes.refused, hint: 'To import the older state anyway: --allow-older' },
  );
}

/** Stores the time of the state before its first publish, so that two imports at once can't end with the older one. */
async function noteImport(
  { session: { api }, changes }: ImportTarget,
  { id, source, importedAt }: Destination,
): Promise<void> {
  const changedAt = changes.get(source.id);
  if (id === null || changedAt === undefined) return;
  if (importedAt !== undefined && Date.parse(changedAt) <= Date.parse(importedAt)) return;
  const imported = { extensionPointId: source.id, changedAt };
  await api.send('PUT', path`/api/v1/extension-points/${id}`, { imported }, savedExtensionPoint);
}

async function createExtensionPoint(
  { session: { api }, appId }: ImportTarget,
  { name, schema, requiresApproval, minVersionAgeSeconds, limits }: CatalogExtensionPoint,
): Promise<string> {
  const body = { name, schema, requiresApproval, minVersionAgeSeconds, limits };
  const points = path`/api/v1/apps/${appId}/extension-points`;
  const { id } = await api.send('POST', points, body, savedExtensionPoint);
  const named = (await api.list(points, extensionPointSchema)).filter((one) => one.name === name);
  if (named.length === 1) return id;
  await api.remove(path`/api/v1/extension-points/${id}`);
  throw new CliError('conflict', `"${printable(name)}" was created by another import at the same time.`, {
    exitCode: exitCodes.conflict,
    hint: 'Nothing was published. Import the bundle again.',
  });
}

/** The path of a plugin at this server. */
function placeOf(extensionPointId: string, userId: string, { name }: CatalogPlugin): string {
  return path`/api/v1/artifacts/${extensionPointId}/plugin/${userId}/${name}`;
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

/**
 * Lets the server make the checks of each publish, which stores nothing. It asks once for a version, and only where the extension point and the
 * guest exist.
 *
 * @param asked the versions that it need not ask for
 * @returns the versions that it has asked for
 * @throws CliError for all that the server refuses
 */
async function askServer(
  target: ImportTarget,
  bundle: Bundle,
  { userId, guests, destinations }: Plan,
  asked: ReadonlySet<CatalogVersion>,
): Promise<ReadonlySet<CatalogVersion>> {
  const open = destinations.flatMap(({ id, plugins }) =>
    plugins.flatMap(({ plugin, present, bindings }) => {
      const seen = new Set(asked);
      return bindings.flatMap(({ guestKey, version, outcome }) => {
        const guestId = guests.held(guestKey);
        if (id === null || guestId === undefined || outcome === 'present' || seen.has(version)) return [];
        seen.add(version);
        return [{ plugin, version, present, guestId, place: placeOf(id, userId, plugin) }];
      });
    }),
  );
  const refused: RefusedPlugin[] = [];
  await withProgress(target, bundle, 'Checking', open, async (importer) => {
    for (const one of open) {
      const error = await refusalOf(importer, one);
      if (error !== undefined) refused.push({ from: `${one.plugin.id}@${one.version.number}`, error });
    }
  });
  const [first, ...others] = refused;
  if (first !== undefined) throw refusedError([first, ...others]);
  return new Set([...asked, ...open.map(({ version }) => version)]);
}

async function refusalOf(importer: Importer, one: Parameters<typeof publishVersion>[1]): Promise<CliError | undefined> {
  try {
    const { state, stateReason } = (await publishVersion(importer, one, { isDryRun: true })).version;
    if (state !== 'failed') return undefined;
    return new CliError('simulation_failed', `It fails the simulations. ${printable(stateReason ?? '')}`.trim());
  } catch (error) {
    if (isRefusal(error)) return error;
    throw error;
  }
}

async function publishAll(target: ImportTarget, bundle: Bundle, plan: Plan): Promise<void> {
  const { userId, guests, destinations } = plan;
  const open = [...pluginsIn(plan)].flatMap(({ bindings }) => bindings.filter(({ outcome }) => outcome === 'planned'));
  await withProgress(target, bundle, 'Importing', open, async (importer) => {
    for (const { id, plugins } of destinations) {
      for (const { plugin, present, bindings } of plugins) {
        const place = placeOf(id ?? '', userId, plugin);
        for (const binding of bindings) {
          const { version, guestKey, outcome } = binding;
          const { contentAddress } = version;
          if (outcome === 'planned') {
            const guestId = await guests.hold(guestKey);
            const one = { version, place, guestId, present };
            const published = await publishVersion(importer, one, { isDryRun: false });
            const { number, state, semver } = published.version;
            if (published.isNewVersion) present.unshift({ number, state, semver, contentAddress, guestIds: [guestId] });
            Object.assign(binding, { outcome: 'published', here: { number, state } });
          }
          // Also of a version that is there, because an earlier import may have ended in between.
          if (binding.here !== null) await attachFurther(importer, version, place, binding.here.number);
        }
      }
    }
  });
}

/** Shows how much of the modules was sent. */
async function withProgress(
  { session: { api, io, out }, keys }: ImportTarget,
  { read }: Bundle,
  label: string,
  open: readonly { readonly version: CatalogVersion }[],
  work: (importer: Importer) => Promise<void>,
): Promise<void> {
  const totalBytes = open.reduce((sum, { version }) => sum + version.size, 0);
  const progress = createProgress(io, !out.isJson, label, totalBytes);
  await work({ api, read, keys, onSent: progress.advance }).finally(progress.end);
}

function* pluginsIn({ destinations }: Plan): Generator<PluginImport> {
  for (const { plugins } of destinations) yield* plugins;
}

function toReport({ userId, guests, destinations }: Plan): ImportReport {
  return {
    extensionPoints: destinations.map(({ id, source: { name }, isNew }) => ({ id, name, isNew })),
    newGuestKeys: guests.missing,
    versions: destinations.flatMap(({ id, plugins }) =>
      plugins.flatMap(({ plugin, bindings }) =>
        bindings.map(({ guestKey, version: { contentAddress }, outcome, here }) => ({
          ...{ plugin: id === null ? null : `${id}/plugin/${userId}/${plugin.name}`, from: plugin.id },
          ...{ contentAddress, guestKey, outcome, version: here },
        })),
      ),
    ),
  };
}

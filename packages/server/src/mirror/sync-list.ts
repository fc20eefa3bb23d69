import { type AppId, type ContentAddress, type GuestId, newId, type UserId, type VersionId } from '@tenon/protocol';
import { writeWithBlob } from '../blobs/with-blob.ts';
import type { PluginKey, VersionRecord } from '../db/records.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { createKeyedMutex } from '../http/limits/keyed-mutex.ts';
import { toBindingListResponse } from '../plugins/bindings.ts';
import { isSameAttestations, toStoredAttestation } from './attestations.ts';
import { hostsId } from './hosts-user.ts';
import type { MirroredBinding, MirroredList } from './mirrored-list-queries.ts';
import type { HeldVersion } from './mirrored-version-queries.ts';
import { type Source, SourceError, type SourceGuest, type SourceList, type SourceVersion } from './source.ts';
import { readSourceImage } from './source-image.ts';

/*
 * Makes one list equal to the source's:
 *
 *   1. Request the list with the entity tag of the own one. 304 means that they are equal.
 *   2. Read the versions of the plugins whose entries differ: their states and numbers.
 *   3. Store what can be stored at once: entries with a content that the mirror holds. An entry that the source has moved to a content that
 *      the mirror does not hold keeps its version, unless that was withdrawn. What the source does not list goes.
 *   4. Fetch the missing contents, verify their digests, and store them with their versions.
 *   5. Start again. The list must have the entity tag of the source's in the end.
 *
 * Each step can be repeated after a crash.
 */

export type SyncDeps = Pick<Deps, 'store' | 'blobs' | 'clock' | 'random'> & {
  readonly settings: Pick<Deps['settings'], 'maxModuleBytes' | 'mirrorKeepMs'>;
};

/** Runs in the transaction of each change. @throws an error if another process follows the source */
export type AssertFollowing = (tx: Transaction) => Promise<void>;

export interface SyncOptions {
  readonly deps: SyncDeps;
  readonly source: Source;
  readonly assertFollowing: AssertFollowing;
  readonly signal: AbortSignal;
}

/** How many plugins the memory of a pass has. */
const maxRememberedPlugins = 1000;

/** How often a list is requested that changes while its contents are fetched. */
const maxRounds = 4;

/** An entry of a list of the source. */
interface Entry {
  readonly key: PluginKey;
  readonly contentAddress: ContentAddress;
  readonly updatedAtMs: number;
}

/** The contents that could not be stored, so that a list differs from that of the source. */
export class MissingContentsError extends Error {
  override readonly name = 'MissingContentsError';
  readonly addresses: readonly ContentAddress[];

  constructor(addresses: readonly ContentAddress[], cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.addresses = addresses;
  }
}

/** Synchronizes lists. It remembers the versions of plugins until {@link ListSync.forget}, so call that for each change. */
export function createListSync({ deps, source, assertFollowing, signal }: SyncOptions) {
  const { store, clock, settings } = deps;
  const perPlugin = createKeyedMutex();
  const perVersions = createKeyedMutex();
  const perList = createKeyedMutex();
  const remembered = new Map<string, Promise<ReadonlyMap<number, SourceVersion>>>();

  /** Reads the versions of a plugin at the source, by number, and stores their states. A deleted plugin has none. */
  const versionsOf = (key: PluginKey): Promise<ReadonlyMap<number, SourceVersion>> => {
    const id = `${key.extensionPointId} ${key.userId} ${key.name}`;
    const known = remembered.get(id);
    if (known !== undefined) return known;
    if (remembered.size >= maxRememberedPlugins) remembered.clear();
    // One after another, so that an older response does not overwrite a newer state.
    const reading = perVersions(id, () => readVersions(key));
    remembered.set(id, reading);
    reading.catch(() => remembered.delete(id));
    return reading;
  };
  const readVersions = async (key: PluginKey): Promise<ReadonlyMap<number, SourceVersion>> => {
    const versions = new Map<number, SourceVersion>();
    try {
      for await (const page of source.versions(key, signal)) for (const each of page) versions.set(each.number, each);
    } catch (error) {
      if (!(error instanceof SourceError) || error.kind !== 'missing') throw error;
    }
    const held = await store.read.heldVersions(key);
    const changed = held.flatMap(({ id, number, state, provenance }) => {
      const found = versions.get(number);
      const isChanged = found?.id === id && (found.state !== state || found.provenance !== provenance);
      return isChanged ? [{ found, provenanceChanged: found.provenance !== provenance }] : [];
    });
    for (const { found, provenanceChanged } of changed) {
      const attestations = provenanceChanged ? await readAttestations(key, found) : undefined;
      await store.write(async (tx) => {
        await assertFollowing(tx);
        await tx.updateMirroredVersion(toRecord(key, found));
        if (attestations !== undefined) await tx.putMirroredAttestations(key, found.id as VersionId, attestations);
      });
    }
    return versions;
  };
  const readAttestations = async (key: PluginKey, { id, number }: SourceVersion) =>
    (await source.attestations(key, number, signal)).map((each) => toStoredAttestation(id as VersionId, each));

  /** Reads the attestations of the held versions of a plugin, and stores those that differ. */
  const refreshAttestations = async (key: PluginKey): Promise<void> => {
    const versions = await versionsOf(key);
    for (const { id, number } of await store.read.heldVersions(key)) {
      const version = versions.get(number);
      if (version?.id !== id) continue;
      const found = await readAttestations(key, version);
      if (isSameAttestations(found, await store.read.attestations(id))) continue;
      await store.write(async (tx) => {
        await assertFollowing(tx);
        await tx.putMirroredAttestations(key, id, found);
      });
    }
  };

  /** Fetches a version and stores it, unless it is held. */
  const holdVersion = (key: PluginKey, version: SourceVersion): Promise<void> =>
    perPlugin(`${key.extensionPointId} ${key.userId} ${key.name}`, async () => {
      if ((await store.read.heldVersions(key)).some(({ id }) => id === version.id)) return;
      const address = version.contentAddress as ContentAddress;
      if (version.size > settings.maxModuleBytes) {
        const limit = `larger than this server's limit of ${settings.maxModuleBytes} bytes`;
        throw new SourceError('invalid', `The content ${address} has ${version.size} bytes, which is ${limit}`);
      }
      const [plugin, attestations, image, bytes] = await Promise.all([
        source.plugin(key, signal),
        readAttestations(key, version),
        readSourceImage(source, version, signal),
        source.content(address, version.size, signal),
      ]);
      const { userName, description, homepage, createdAt } = plugin;
      const about = { userName, description, homepage, createdAtMs: Date.parse(createdAt) };
      await writeWithBlob(deps, address, bytes, async (tx) => {
        await assertFollowing(tx);
        await tx.putMirroredVersion({ version: toRecord(key, version), plugin: about });
        await tx.putMirroredAttestations(key, version.id as VersionId, attestations);
        if (image !== undefined) await tx.insertMirroredImage(version.id as VersionId, image);
      });
    });

  const readOwn = (list: MirroredList) => store.read.bindings(list.extensionPointId, list.guestKey);

  const put = async (
    appId: AppId,
    list: MirroredList,
    guest: SourceGuest | undefined,
    bindings: readonly MirroredBinding[],
    isRemoval = false,
  ) => {
    const { id = newId('guest'), label = null, createdAt } = guest ?? {};
    const createdAtMs = createdAt === undefined ? clock() : Date.parse(createdAt);
    await store.write(async (tx) => {
      await assertFollowing(tx);
      await tx.putMirroredList(
        list,
        { id: id as GuestId, appId, label, note: null, ring: null, createdAtMs },
        bindings,
        { keepUntilMs: clock() + settings.mirrorKeepMs, isRemoval },
      );
    });
  };

  /** Reads the guest of a list that the mirror does not have. */
  const findGuest = async (appId: AppId, guestKey: string): Promise<SourceGuest | undefined> => {
    for await (const page of source.guests(appId, signal, guestKey)) return page[0];
    return undefined;
  };

  /**
   * Makes the list equal to a different one of the source, as far as the mirror holds its contents.
   *
   * @returns the entries whose contents are missing
   */
  const apply = async (
    appId: AppId,
    list: MirroredList,
    found: SourceList,
    known: SourceGuest | undefined,
  ): Promise<readonly Entry[]> => {
    const entries = Object.entries(found.bindings).map(([name, each]) => toEntry(list, name, each));
    const own = new Map((await readOwn(list)).map((each) => [each.name, each]));
    const guest = known ?? (own.size === 0 ? await findGuest(appId, list.guestKey) : undefined);
    const ready: MirroredBinding[] = [];
    const waiting: Entry[] = [];
    for (const entry of entries) {
      const before = own.get(entry.key.name);
      const isSame = before?.userId === entry.key.userId && before.contentAddress === entry.contentAddress;
      if (isSame && before.updatedAtMs === entry.updatedAtMs) {
        ready.push(toBinding(entry, before.versionId));
        continue;
      }
      const versions = await versionsOf(entry.key);
      const held = findHeld(await store.read.heldVersions(entry.key), versions, entry);
      if (held !== undefined) {
        ready.push(toBinding(entry, held.id));
        continue;
      }
      waiting.push(entry);
      const isStillPublished =
        before?.userId === entry.key.userId &&
        [...versions.values()].some(({ id, state }) => id === before.versionId && state === 'published');
      if (isStillPublished) ready.push(toBinding({ ...entry, updatedAtMs: before.updatedAtMs }, before.versionId));
    }
    const isUnchanged =
      ready.length === own.size &&
      ready.every(({ name, versionId, updatedAtMs }) => {
        const before = own.get(name);
        return before?.versionId === versionId && before.updatedAtMs === updatedAtMs;
      });
    // Versions that are not listed any more may have been withdrawn.
    const gone = [...own.values()].filter(
      ({ name, userId }) => !entries.some(({ key }) => key.name === name && key.userId === userId),
    );
    const isRemoval = ready.every(({ name, versionId }) => own.get(name)?.versionId === versionId);
    if (!isUnchanged) await put(appId, list, guest, ready, isRemoval);
    for (const { extensionPointId, userId, name } of gone) await versionsOf({ extensionPointId, userId, name });
    return waiting;
  };

  /** Requests a list, and applies it. @returns the entries whose contents are missing */
  const refresh = async (
    appId: AppId,
    list: MirroredList,
    guest: SourceGuest | undefined,
  ): Promise<readonly Entry[]> => {
    const { etag } = toBindingListResponse(await readOwn(list));
    const found = await source.bindings(list.extensionPointId, list.guestKey, etag, signal);
    if (found === undefined) return [];
    const waiting = await apply(appId, list, found, guest);
    if (waiting.length === 0 && toBindingListResponse(await readOwn(list)).etag !== found.etag)
      throw new SourceError('invalid', 'A list differs from that of the source');
    return waiting;
  };

  /** Fetches the contents of entries. @returns why some can't be stored */
  const hold = async (entries: readonly Entry[]): Promise<unknown> => {
    let fault: unknown;
    for (const { key, contentAddress } of entries) {
      try {
        const version = [...(await versionsOf(key)).values()].find(
          (each) => each.contentAddress === contentAddress && each.state === 'published',
        );
        if (version === undefined) throw new SourceError('missing', 'The list has changed meanwhile');
        await holdVersion(key, version);
      } catch (error) {
        if (signal.aborted || isOutage(error)) throw error;
        fault = error;
      }
    }
    return fault;
  };

  return {
    /**
     * Makes a list equal to the source's.
     *
     * @param guest the guest at the source, if it is known
     * @throws SourceError; MissingContentsError if the rest of the list is equal; store errors
     */
    async sync(appId: AppId, list: MirroredList, guest?: SourceGuest): Promise<void> {
      let fault: unknown;
      for (let round = 1; ; round++) {
        // Contents are fetched outside of the mutex, so that a block of another plugin of the list does not wait for them.
        const waiting = await perList(JSON.stringify(list), () => refresh(appId, list, guest));
        if (waiting.length === 0) return;
        if (round === maxRounds) fault ??= new SourceError('missing', 'The list has changed meanwhile');
        const addresses = waiting.map(({ contentAddress }) => contentAddress);
        if (fault !== undefined) throw new MissingContentsError(addresses, fault);
        fault = await hold(waiting);
      }
    },
    /** Reads the states of a plugin's versions, and their attestations. */
    refreshPlugin: refreshAttestations,
    /** Forgets the versions that were read, because something has changed at the source. */
    forget: (): void => remembered.clear(),
  };
}

export type ListSync = ReturnType<typeof createListSync>;

/** Whether all other requests to the source would fail too. */
export function isOutage(error: unknown): boolean {
  return error instanceof SourceError && (error.kind === 'unreachable' || error.kind === 'refused');
}

/** The newest published version with the content of an entry, if the mirror holds it. */
function findHeld(
  held: readonly HeldVersion[],
  versions: ReadonlyMap<number, SourceVersion>,
  { contentAddress }: Entry,
): HeldVersion | undefined {
  return held.find(
    ({ id, number, ...each }) => each.contentAddress === contentAddress && isPublished(versions.get(number), id),
  );
}

const isPublished = (version: SourceVersion | undefined, id: string) =>
  version?.id === id && version.state === 'published';

function toEntry(
  { extensionPointId }: MirroredList,
  name: string,
  { id, contentAddress, updatedAt }: SourceList['bindings'][string],
): Entry {
  const [point, kind, userId, ...rest] = id.split('/');
  if (point !== extensionPointId || kind !== 'plugin' || userId === undefined || rest.join('/') !== name) {
    throw new SourceError('invalid', 'An entry of a list has the id of another plugin');
  }
  if (userId === hostsId) throw new SourceError('invalid', 'A plugin has the publisher that a mirror keeps for hosts');
  return {
    key: { extensionPointId, userId: userId as UserId, name },
    contentAddress: contentAddress as ContentAddress,
    updatedAtMs: Date.parse(updatedAt),
  };
}

function toBinding(
  { key: { name, userId }, updatedAtMs }: Entry,
  versionId: MirroredBinding['versionId'],
): MirroredBinding {
  return { name, userId, versionId, updatedAtMs };
}

function toRecord({ extensionPointId, userId, name }: PluginKey, version: SourceVersion): VersionRecord {
  const { id, number, contentAddress, size, semver, note, state, stateReason, verdict, provenance } = version;
  return {
    ...{ extensionPointId, userId, name, id: id as VersionRecord['id'], number, size, semver, note },
    ...{ state, stateReason, verdict, provenance, stateRole: version.decidedBy },
    contentAddress: contentAddress as ContentAddress,
    createdAtMs: Date.parse(version.createdAt),
    stateAtMs: Date.parse(version.stateChangedAt),
    releaseAtMs: version.releaseAt === null ? null : Date.parse(version.releaseAt),
    manifestDigest: null,
  };
}
